//! Attention (Vaswani and others, Attention is all you need, 2017): each token's new state is a mean of the values of all tokens,
//! weighted by the similarity of its query and their keys.

use std::array;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::functions::exp;
use crate::matrix::{Block, LANES, Lanes, multiply};

/// One layer's attention of a text.
pub(crate) struct Attention<'a> {
    /// The number of tokens. Columns of the last block that are not tokens have no influence on the others.
    pub(crate) tokens: usize,
    /// The numbers of a query, a key or a value, in one of `heads` heads.
    pub(crate) head: usize,
    pub(crate) heads: usize,
    /// For each block of tokens: the queries, then the keys, as columns.
    pub(crate) queries_and_keys: &'a [Lanes],
    /// For each block of tokens: the values as rows, in blocks of [`LANES`] columns.
    pub(crate) values: &'a [Lanes],
    /// For each block of tokens: the means as columns.
    pub(crate) out: &'a mut [Lanes],
    /// Memory for the weights of two blocks of tokens.
    pub(crate) weights: &'a mut Vec<Lanes>,
}

impl Attention<'_> {
    /// Computes the means.
    pub(crate) fn compute(self, arch: Arch) {
        arch.dispatch(self);
    }
}

impl WithSimd for Attention<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { tokens, head, heads, queries_and_keys, values, out, weights } = self;
        let hidden = head * heads;
        let length = tokens.next_multiple_of(LANES);
        weights.resize(2 * length, Lanes::ZERO);
        let (first, second) = weights.split_at_mut(length);
        for number in 0..heads {
            let range = number * head..(number + 1) * head;
            let text = Head { tokens, hidden, range: range.clone(), queries_and_keys, values };
            for (block, out) in queries_and_keys.chunks(4 * hidden).zip(out.chunks_mut(2 * hidden)) {
                let queries = &block[range.clone()];
                let (out, other_out) = out.split_at_mut(hidden);
                let out = &mut out[range.clone()];
                match other_out.get_mut(range.clone()) {
                    None => text.attend(simd, [queries], [first], [out]),
                    Some(other_out) => {
                        let others = &block[2 * hidden..][range.clone()];
                        text.attend(simd, [queries, others], [first, second], [out, other_out]);
                    }
                }
            }
        }
    }
}

/// A head of a text.
struct Head<'a> {
    tokens: usize,
    hidden: usize,
    /// The rows of the head in a block of queries, keys or values.
    range: Range<usize>,
    queries_and_keys: &'a [Lanes],
    values: &'a [Lanes],
}

impl Head<'_> {
    /// Computes the means for `N` blocks of queries.
    #[inline(always)]
    fn attend<S: Simd, const N: usize>(
        &self,
        simd: S,
        queries: [&[Lanes]; N],
        mut weights: [&mut [Lanes]; N],
        mut outs: [&mut [Lanes]; N],
    ) {
        for (number, block) in self.queries_and_keys.chunks_exact(2 * self.hidden).enumerate() {
            let keys = &block[self.hidden..][self.range.clone()];
            let similarities = weights.each_mut().map(|weights| &mut weights.as_chunks_mut().0[number]);
            multiply(simd, keys, queries, similarities.map(cleared));
        }
        let factors = weights.each_mut().map(|weights| softmax(weights, self.tokens, self.range.len()));
        for number in 0..self.range.len() / LANES {
            let mut sums = outs.each_mut().map(|out| cleared(&mut out.as_chunks_mut().0[number]));
            let rows = self.range.start + number * LANES..self.range.start + (number + 1) * LANES;
            for (block, values) in self.values.chunks_exact(self.hidden).enumerate() {
                let weights = weights.each_ref().map(|weights| &weights[block * LANES..][..LANES]);
                multiply(simd, &values[rows.clone()], weights, sums.each_mut().map(|sums| &mut **sums));
            }
            for (sums, factors) in sums.into_iter().zip(&factors) {
                for row in sums {
                    *row = Lanes(array::from_fn(|lane| row.0[lane] * factors[lane]));
                }
            }
        }
    }
}

fn cleared(block: &mut Block) -> &mut Block {
    *block = [Lanes::ZERO; LANES];
    block
}

/// Replaces similarities by weights, and returns what they are to be multiplied by so that their sum is 1.
#[inline(always)]
fn softmax(weights: &mut [Lanes], tokens: usize, head: usize) -> [f32; LANES] {
    let scale = 1.0 / (head as f32).sqrt();
    let (weights, rest) = weights.split_at_mut(tokens);
    let mut greatest = [f32::MIN; LANES];
    for row in &*weights {
        for (greatest, value) in greatest.iter_mut().zip(&row.0) {
            *greatest = if *value > *greatest { *value } else { *greatest };
        }
    }
    let mut sums = [0.0; LANES];
    for row in weights {
        for lane in 0..LANES {
            row.0[lane] = exp((row.0[lane] - greatest[lane]) * scale);
            sums[lane] += row.0[lane];
        }
    }
    rest.fill(Lanes::ZERO);
    sums.map(|sum| 1.0 / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::tests::architectures;

    const HEADS: usize = 2;
    const HEAD: usize = 32;
    const HIDDEN: usize = HEADS * HEAD;

    fn number(token: usize, i: usize) -> f32 {
        ((token * 31 + i * 17) % 101) as f32 / 25.0 - 2.0
    }

    /// Returns the means of the values of a text by their definition, in f64.
    fn expected(tokens: usize, token: usize, head: usize, i: usize) -> f64 {
        let similarity = |other| -> f64 {
            let product = |i| f64::from(number(token, head * HEAD + i) * number(other, HIDDEN + head * HEAD + i));
            (0..HEAD).map(product).sum::<f64>() / (HEAD as f64).sqrt()
        };
        let weights: Vec<f64> = (0..tokens).map(|other| similarity(other).exp()).collect();
        let value = |other| f64::from(number(other, 2 * HIDDEN + head * HEAD + i));
        let sum: f64 = weights.iter().enumerate().map(|(other, weight)| weight * value(other)).sum();
        sum / weights.iter().sum::<f64>()
    }

    #[test]
    fn attention_is_a_weighted_mean() {
        for tokens in [1_usize, 15, 16, 17, 40] {
            let blocks = tokens.div_ceil(LANES);
            // Columns after the last token have large numbers.
            let state = |token, i| if token < tokens { number(token, i) } else { 9.0 };
            let mut queries_and_keys = Vec::new();
            let mut values = Vec::new();
            for block in 0..blocks {
                let row = |i| Lanes(array::from_fn(|lane| state(block * LANES + lane, i)));
                queries_and_keys.extend((0..2 * HIDDEN).map(row));
                for start in (0..HIDDEN).step_by(LANES) {
                    let row = |token| Lanes(array::from_fn(|lane| state(token, 2 * HIDDEN + start + lane)));
                    values.extend((block * LANES..(block + 1) * LANES).map(row));
                }
            }
            let (queries_and_keys, values) = (&*queries_and_keys, &*values);
            for arch in architectures() {
                let mut out = vec![Lanes([f32::NAN; LANES]); blocks * HIDDEN];
                let weights = &mut Vec::new();
                let text =
                    Attention { tokens, head: HEAD, heads: HEADS, queries_and_keys, values, out: &mut out, weights };
                text.compute(arch);
                for token in 0..tokens {
                    for i in 0..HIDDEN {
                        let computed = f64::from(out[token / LANES * HIDDEN + i].0[token % LANES]);
                        let expected = expected(tokens, token, i / HEAD, i % HEAD);
                        let difference = (computed - expected).abs();
                        assert!(difference < 1e-5, "{arch:?} {tokens} {token} {i}: {computed} {expected}");
                    }
                }
            }
        }
    }
}
