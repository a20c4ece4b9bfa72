//! The functions of the network that are not products of matrices.
//!
//! They are plain loops over rows of [`LANES`] columns, each with a token. The compiler turns them into vectors, if the function
//! that enables these contains them: all are inlined into it.

use std::array;
use std::f32::consts::{FRAC_1_SQRT_2, LOG2_E};

use pulp::{Arch, Simd, WithSimd};

use crate::matrix::{LANES, Lanes};

/// Adds `other` to states and normalizes those of each token (Ba, Kiros and Hinton, Layer normalization, 2016).
pub(crate) struct AddAndNormalize<'a> {
    pub(crate) states: &'a mut [Lanes],
    pub(crate) other: &'a [Lanes],
    /// What a normalized number is multiplied by, and what is added to it.
    pub(crate) scale: &'a [f32],
    pub(crate) bias: &'a [f32],
}

impl AddAndNormalize<'_> {
    pub(crate) fn compute(self, arch: Arch) {
        arch.dispatch(self);
    }
}

impl WithSimd for AddAndNormalize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { states, other, scale, bias } = self;
        for (block, other) in states.chunks_exact_mut(scale.len()).zip(other.chunks_exact(scale.len())) {
            let mut sums = [0.0; LANES];
            for (row, other) in block.iter_mut().zip(other) {
                *row = Lanes(array::from_fn(|lane| row.0[lane] + other.0[lane]));
                sums = array::from_fn(|lane| sums[lane] + row.0[lane]);
            }
            normalize(block, sums, scale, bias);
        }
    }
}

#[inline(always)]
fn normalize(block: &mut [Lanes], sums: [f32; LANES], scale: &[f32], bias: &[f32]) {
    // That of the model's config.json.
    const EPSILON: f32 = 1e-12;
    let count = block.len() as f32;
    let means = sums.map(|sum| sum / count);
    let mut squares = [0.0; LANES];
    for row in block.iter_mut() {
        *row = Lanes(array::from_fn(|lane| row.0[lane] - means[lane]));
        squares = array::from_fn(|lane| squares[lane] + row.0[lane] * row.0[lane]);
    }
    let factors = squares.map(|sum| 1.0 / (sum / count + EPSILON).sqrt());
    for ((row, scale), bias) in block.iter_mut().zip(scale).zip(bias) {
        *row = Lanes(array::from_fn(|lane| row.0[lane] * factors[lane] * scale + bias));
    }
}

/// Applies the Gaussian error linear unit (Hendrycks and Gimpel, 2016), x · (1 + erf(x / √2)) / 2.
pub(crate) struct Gelu<'a>(pub(crate) &'a mut [Lanes]);

impl Gelu<'_> {
    pub(crate) fn compute(self, arch: Arch) {
        arch.dispatch(self);
    }
}

impl WithSimd for Gelu<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for row in self.0 {
            *row = Lanes(row.0.map(|x| x * (0.5 + 0.5 * erf(x * FRAC_1_SQRT_2))));
        }
    }
}

/// Returns e to the power of a number that is not positive, to within 2e-7 of itself.
///
/// 2^n · e^r with an integer n and |r| ≤ ln 2 / 2; a polynomial of Cephes (`expf.c`) gives e^r.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Adding it leaves the nearest integer in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, of which n times the first is exact.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    // Below, the result is less than 2e-38, and the exponent would not fit into its bits.
    let x = if x > -87.0 { x } else { -87.0 };
    let rounded = x * LOG2_E + ROUND;
    let n = rounded - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let mut p = 1.987_569_1e-4;
    for factor in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        p = p * r + factor;
    }
    let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23));
    (p * r * r + r + 1.0) * power
}

/// Returns the error function, to within 4e-7.
///
/// The rational approximation of Eigen (`MathFunctionsImpl.h`), which has no branch and one division.
#[inline(always)]
fn erf(x: f32) -> f32 {
    const LIMIT: f32 = 4.0;
    const NUMERATOR: [f32; 7] = [
        -2.726_142_3e-10, 2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906_3e-4, -2.954_6e-3, -1.609_603_3e-2,
    ];
    const DENOMINATOR: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];
    let x = if x > LIMIT { LIMIT } else { x };
    let x = if x < -LIMIT { -LIMIT } else { x };
    let square = x * x;
    let mut p = NUMERATOR[0];
    for factor in &NUMERATOR[1..] {
        p = p * square + factor;
    }
    let mut q = DENOMINATOR[0];
    for factor in &DENOMINATOR[1..] {
        q = q * square + factor;
    }
    x * p / q
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_near() {
        for i in 0..=8_700_000 {
            let x = -0.000_01 * i as f32;
            let exact = f64::from(x).exp();
            let error = (f64::from(exp(x)) - exact).abs() / exact;
            assert!(error < 2e-7, "{x}: {error}");
        }
    }

    /// By the series of erf, in f64.
    #[test]
    fn erf_is_near() {
        for i in -5000..=5000 {
            let x = 0.001 * i as f32;
            let z = f64::from(x);
            let mut term = z;
            let mut exact = z;
            for n in 1..200 {
                term *= -z * z / f64::from(n);
                exact += term / f64::from(2 * n + 1);
            }
            exact *= std::f64::consts::FRAC_2_SQRT_PI;
            let error = (f64::from(erf(x)) - exact).abs();
            assert!(error < 4e-7, "{x}: {error}");
        }
    }
}
