//! Vectors in 8-bit integers. Only their direction counts.

/// Returns a vector in 8-bit integers, each as a byte in two's complement, scaled so that the largest has the magnitude 127;
/// `None` for one with a number that is not finite, or without a direction.
///
/// Equal vectors give equal bytes on every machine: each number is divided and rounded once, by IEEE 754.
pub fn quantize(numbers: &[f32]) -> Option<Vec<u8>> {
    let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    if !numbers.iter().all(|number| number.is_finite()) || largest < f32::MIN_POSITIVE {
        return None;
    }
    let scaled = |number: &f32| (f64::from(*number) / f64::from(largest) * f64::from(i8::MAX)).round() as i8;
    Some(numbers.iter().map(|number| scaled(number).cast_unsigned()).collect())
}

/// Returns the cosine of the angle between two vectors, -1 to 1; 0 if their lengths differ or one has no direction.
pub fn cosine(a: &[u8], b: &[u8]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let product = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    if product.is_finite() { product } else { 0.0 }
}

fn dot(a: &[u8], b: &[u8]) -> f64 {
    let signed = |byte: &u8| i32::from(byte.cast_signed());
    // The products of 65,536 numbers fit into 32 bits.
    f64::from(a.iter().zip(b).map(|(a, b)| signed(a) * signed(b)).sum::<i32>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_direction_is_kept() {
        let (a, b) = (quantize(&[0.5, -1.0, 0.25]).unwrap(), quantize(&[5.0, -10.0, 2.5]).unwrap());
        assert_eq!(a, b);
        assert_eq!(a, [64, 129, 32]);
        assert!((cosine(&a, &b) - 1.0).abs() < 1e-9);
        let opposite = quantize(&[-0.5, 1.0, -0.25]).unwrap();
        assert!((cosine(&a, &opposite) + 1.0).abs() < 1e-9);
        assert!(cosine(&quantize(&[1.0, 0.0]).unwrap(), &quantize(&[0.0, 1.0]).unwrap()).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        for numbers in [&[][..], &[0.0, -0.0], &[f32::NAN, 1.0], &[1.0, f32::INFINITY], &[f32::MIN_POSITIVE / 2.0]] {
            assert_eq!(quantize(numbers), None, "{numbers:?}");
        }
        assert!(quantize(&[f32::MAX, -f32::MAX]).is_some());
        assert!(cosine(&[1, 2], &[1]).abs() < 1e-9 && cosine(&[0, 0], &[1, 1]).abs() < 1e-9);
    }
}
