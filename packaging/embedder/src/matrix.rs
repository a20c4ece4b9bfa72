//! Products of matrices, on one thread, with the widest vectors of the processor.
//!
//! A matrix is stored in blocks of sixteen columns: the sixteen numbers of its first row, of its second row, and so on. States of
//! tokens have a token in each column, and weights an output. The product of a block of weights and one of states has a
//! token in each column again, so nothing is copied between the layers of the network, and sums over a token's numbers are
//! sums of vectors.
//!
//! Each number of a product is a sum over the inner dimension from its first to its last element, with one rounding in a step (a
//! fused multiply-add). So its bits depend neither on what else is computed nor on whether vectors have 128, 256 or 512 bits.
//!
//! The crates for this need unsafe code of their callers, and pack their operands in each call, which short texts feel most:
//! README.md has the figures.

use std::array;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

/// The columns of a block: the numbers of a vector of AVX-512.
pub(crate) const LANES: usize = 16;

/// A row of a block. Its alignment is the length of a cache line: without it, each load of a vector would touch two.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Lanes(pub(crate) [f32; LANES]);

impl Lanes {
    /// A row of zeros.
    pub(crate) const ZERO: Self = Self([0.0; LANES]);
}

/// The rows of blocks that are multiplied before the next ones are: three blocks have 24 KB, and stay in the
/// first cache.
const DEPTH: usize = 128;

/// Adds the transpose of [`LANES`] rows to blocks.
pub(crate) fn push_block(blocks: &mut Vec<Lanes>, rows: &[f32]) {
    let inner = rows.len() / LANES;
    let rows: [&[f32]; LANES] = array::from_fn(|row| &rows[row * inner..][..inner]);
    blocks.extend((0..inner).map(|element| Lanes(rows.map(|row| row[element]))));
}

/// A block of a product.
pub(crate) type Block = [Lanes; LANES];

/// Weights times states, plus a bias.
pub(crate) struct Product<'a> {
    /// Blocks of outputs.
    pub(crate) weights: &'a [Lanes],
    /// A number for each output.
    pub(crate) bias: &'a [f32],
    /// Blocks of tokens.
    pub(crate) states: &'a [Lanes],
    /// The rows of a block of both.
    pub(crate) inner: usize,
    /// For each block of tokens, the product with each block of outputs.
    pub(crate) out: &'a mut [Lanes],
    /// Whether the columns of the product are outputs. Else they are tokens.
    pub(crate) has_outputs_as_columns: bool,
}

impl Product<'_> {
    /// Computes the product.
    pub(crate) fn compute(self, arch: Arch) {
        arch.dispatch(self);
    }

    /// Multiplies each block of outputs by all states: weights come from far away, and the states of a text fit into the
    /// second cache.
    #[inline(always)]
    fn compute_by_tokens<S: Simd>(self, simd: S) {
        let Self { weights, bias, states, inner, out, .. } = self;
        let (out, _) = out.as_chunks_mut::<LANES>();
        let count = bias.len() / LANES;
        for rows in ranges(inner) {
            let outputs = weights.chunks_exact(inner).zip(bias.as_chunks::<LANES>().0);
            for (number, (weights, bias)) in outputs.enumerate() {
                let weights = &weights[rows.clone()];
                for (states, out) in states.chunks(2 * inner).zip(out.chunks_mut(2 * count)) {
                    let (first, second) = out.split_at_mut(count);
                    let first = &mut first[number];
                    if rows.start == 0 {
                        *first = bias.map(|bias| Lanes([bias; LANES]));
                    }
                    let Some(second) = second.get_mut(number) else {
                        multiply(simd, weights, [&states[rows.clone()]], [first]);
                        continue;
                    };
                    if rows.start == 0 {
                        *second = *first;
                    }
                    let states = states.split_at(inner);
                    multiply(simd, weights, [&states.0[rows.clone()], &states.1[rows.clone()]], [first, second]);
                }
            }
        }
    }

    /// As [`Self::compute_by_tokens`], in pairs of blocks of outputs.
    #[inline(always)]
    fn compute_by_outputs<S: Simd>(self, simd: S) {
        let Self { weights, bias, states, inner, out, .. } = self;
        let (out, _) = out.as_chunks_mut::<LANES>();
        let count = bias.len() / LANES;
        for rows in ranges(inner) {
            let outputs = weights.chunks_exact(2 * inner).zip(bias.as_chunks::<LANES>().0.as_chunks::<2>().0);
            for (number, (weights, bias)) in outputs.enumerate() {
                let weights = weights.split_at(inner);
                let weights = [&weights.0[rows.clone()], &weights.1[rows.clone()]];
                for (states, out) in states.chunks_exact(inner).zip(out.chunks_exact_mut(count)) {
                    let out = &mut out.as_chunks_mut::<2>().0[number];
                    if rows.start == 0 {
                        *out = bias.map(|bias| [Lanes(bias); LANES]);
                    }
                    multiply(simd, &states[rows.clone()], weights, out.each_mut());
                }
            }
        }
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if self.has_outputs_as_columns {
            self.compute_by_outputs(simd);
        } else {
            self.compute_by_tokens(simd);
        }
    }
}

fn ranges(inner: usize) -> impl Iterator<Item = Range<usize>> {
    (0..inner).step_by(DEPTH).map(move |start| start..inner.min(start + DEPTH))
}

/// Adds to each of `outs` the product of the transpose of a block and one of `rights`.
///
/// A multiply-add takes four cycles and two begin in each, so eight sums or more must be computed at once. AVX2 has registers
/// for twelve. With AVX-512, two loads in a cycle are the limit; two blocks at once, which share those of `left`, take four
/// fifths of the time.
#[inline(always)]
pub(crate) fn multiply<S: Simd, const N: usize>(
    simd: S,
    left: &[Lanes],
    rights: [&[Lanes]; N],
    mut outs: [&mut Block; N],
) {
    if S::F32_LANES == LANES && N > 1 {
        multiply_rows::<S, N, 8, 1>(simd, left, rights, &mut outs, 0);
        multiply_rows::<S, N, 8, 1>(simd, left, rights, &mut outs, 8);
        return;
    }
    for (right, out) in rights.into_iter().zip(outs) {
        let (right, out) = ([right], &mut [out]);
        match S::F32_LANES {
            16 => multiply_rows::<S, 1, 16, 1>(simd, left, right, out, 0),
            8 => {
                multiply_rows::<S, 1, 6, 2>(simd, left, right, out, 0);
                multiply_rows::<S, 1, 5, 2>(simd, left, right, out, 6);
                multiply_rows::<S, 1, 5, 2>(simd, left, right, out, 11);
            }
            4 => (0..LANES).step_by(4).for_each(|row| multiply_rows::<S, 1, 4, 4>(simd, left, right, out, row)),
            _ => (0..LANES).for_each(|row| multiply_rows::<S, 1, 1, 16>(simd, left, right, out, row)),
        }
    }
}

/// Computes `ROWS` rows of `outs` from `first` on, each of `VECTORS` vectors.
#[inline(always)]
fn multiply_rows<S: Simd, const N: usize, const ROWS: usize, const VECTORS: usize>(
    simd: S,
    left: &[Lanes],
    rights: [&[Lanes]; N],
    outs: &mut [&mut Block; N],
    first: usize,
) {
    // Loops and no closures: the compiler must inline everything into the function that enables the vectors.
    let zero = simd.splat_f32s(0.0);
    let mut sums = [[[zero; VECTORS]; N]; ROWS];
    for (row, sums) in sums.iter_mut().enumerate() {
        for (out, sums) in outs.iter().zip(sums) {
            sums.copy_from_slice(S::as_simd_f32s(&out[first + row].0).0);
        }
    }
    // Of the same length as `left`, so that the loop needs no check.
    let rights = rights.map(|right| &right[..left.len()]);
    for (i, left) in left.iter().enumerate() {
        let mut vectors = [[zero; VECTORS]; N];
        for (vectors, right) in vectors.iter_mut().zip(&rights) {
            vectors.copy_from_slice(S::as_simd_f32s(&right[i].0).0);
        }
        for (row, sums) in sums.iter_mut().enumerate() {
            let left = simd.splat_f32s(left.0[first + row]);
            for n in 0..N {
                for v in 0..VECTORS {
                    sums[n][v] = simd.mul_add_e_f32s(left, vectors[n][v], sums[n][v]);
                }
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        for (out, sums) in outs.iter_mut().zip(sums) {
            S::as_mut_simd_f32s(&mut out[first + row].0).0.copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Numbers that look random, with many different bits.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state) / f64::from(u32::MAX) - 0.5
        };
        (0..count).map(|_| next() as f32).collect()
    }

    fn packed(rows: &[f32], inner: usize) -> Vec<Lanes> {
        let mut blocks = Vec::new();
        for rows in rows.chunks_exact(inner * LANES) {
            push_block(&mut blocks, rows);
        }
        blocks
    }

    struct Case {
        tokens: usize,
        inner: usize,
        outputs: usize,
        weights: Vec<f32>,
        bias: Vec<f32>,
        states: Vec<f32>,
    }

    impl Case {
        fn new(tokens: usize, inner: usize, outputs: usize) -> Self {
            let (weights, bias) = (numbers(outputs * inner, 1), numbers(outputs, 2));
            Self { tokens, inner, outputs, weights, bias, states: numbers(tokens * inner, 3) }
        }

        /// Returns the product as a row of outputs for each token.
        fn compute(&self, arch: Arch, has_outputs_as_columns: bool) -> Vec<f32> {
            let inner = self.inner;
            let (weights, states) = (packed(&self.weights, inner), packed(&self.states, inner));
            let mut out = vec![Lanes([f32::NAN; LANES]); self.tokens * self.outputs / LANES];
            let product = Product {
                weights: &weights,
                bias: &self.bias,
                states: &states,
                inner,
                out: &mut out,
                has_outputs_as_columns,
            };
            product.compute(arch);
            let mut rows = vec![0.0; self.tokens * self.outputs];
            for (number, block) in out.as_chunks::<LANES>().0.iter().enumerate() {
                let blocks = self.outputs / LANES;
                let (token, output) = (number / blocks * LANES, number % blocks * LANES);
                for (i, row) in block.iter().enumerate() {
                    for (j, value) in row.0.iter().enumerate() {
                        let (i, j) = if has_outputs_as_columns { (i, j) } else { (j, i) };
                        rows[(token + i) * self.outputs + output + j] = *value;
                    }
                }
            }
            rows
        }

        /// The same by its definition, in the documented order.
        fn expected(&self) -> Vec<f32> {
            let rows = self.states.chunks_exact(self.inner);
            let products = rows.flat_map(|states| {
                let outputs = self.weights.chunks_exact(self.inner).zip(&self.bias);
                outputs.map(|(weights, bias)| {
                    states.iter().zip(weights).fold(*bias, |sum, (state, weight)| state.mul_add(*weight, sum))
                })
            });
            products.collect()
        }
    }

    /// Returns the instruction sets that this processor has, the best one first and plain numbers last.
    pub(crate) fn architectures() -> Vec<Arch> {
        let mut all = vec![Arch::new()];
        #[cfg(target_arch = "x86_64")]
        all.extend(pulp::x86::V3::try_new().map(Arch::V3));
        all.push(Arch::Scalar);
        all
    }

    #[test]
    fn products_have_the_same_bits_everywhere() {
        for (tokens, inner, outputs) in [(16, 16, 32), (32, 384, 64), (48, 400, 32), (80, 33, 96)] {
            let case = Case::new(tokens, inner, outputs);
            let expected = case.expected();
            for arch in architectures() {
                for has_outputs_as_columns in [false, true] {
                    let computed = case.compute(arch, has_outputs_as_columns);
                    // Without fused multiply-adds, each step rounds twice.
                    let tolerance = if matches!(arch, Arch::Scalar) { 1e-5 } else { 0.0 };
                    for (value, expected) in computed.iter().zip(&expected) {
                        let difference = (value - expected).abs();
                        assert!(difference <= tolerance, "{tokens} {inner} {outputs} {arch:?}: {value} {expected}");
                    }
                }
            }
        }
    }
}
