//! Compression of ids that qipu made: six bytes in place of eleven, anywhere in a byte string.
//!
//! Such ids are most of the bytes of stored links, and random, so that LZ4 alone does not compress them.

/// The prefix of such an id, and the number of digits in base 36 behind it.
const PREFIX: &[u8] = b"qp-";
const DIGITS: usize = 8;
const BASE: u8 = 36;

/// The first byte of a compressed id is this plus the most significant byte of its number, which is at most 2.
const MARK: u8 = 0xfc;
/// Escapes a literal byte that is [`MARK`] or greater.
const ESCAPE: u8 = 0xff;

pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
    while let Some((first, others)) = rest.split_first() {
        rest = match number(rest) {
            Some((number, behind)) => {
                let [.., high, a, b, c, d, e] = number.to_be_bytes();
                out.extend([MARK + high, a, b, c, d, e]);
                behind
            }
            None => {
                out.extend((*first >= MARK).then_some(ESCAPE));
                out.push(*first);
                others
            }
        };
    }
    out
}

/// Decompresses what [`compress`] returned; `None` if the bytes are damaged.
pub(super) fn decompress(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut rest) = (Vec::with_capacity(bytes.len() * 2), bytes);
    loop {
        let plain = rest.iter().position(|byte| *byte >= MARK).unwrap_or(rest.len());
        let (before, behind) = rest.split_at_checked(plain)?;
        out.extend_from_slice(before);
        rest = match *behind {
            [] => return Some(out),
            [ESCAPE, byte, ref behind @ ..] => {
                out.push(byte);
                behind
            }
            [mark, a, b, c, d, e, ref behind @ ..] if mark < ESCAPE => {
                push_id(&mut out, u64::from_be_bytes([0, 0, mark - MARK, a, b, c, d, e]));
                behind
            }
            _ => return None,
        };
    }
}

/// Parses an id at the beginning of bytes. Returns its number and the bytes behind it.
fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (digits, behind) = bytes.strip_prefix(PREFIX)?.split_at_checked(DIGITS)?;
    let number = digits.iter().try_fold(0, |number, byte| {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'z' => byte - b'a' + 10,
            _ => return None,
        };
        Some(number * u64::from(BASE) + u64::from(digit))
    });
    Some((number?, behind))
}

fn push_id(out: &mut Vec<u8>, number: u64) {
    let (mut digits, mut rest) = ([b'0'; DIGITS], number);
    for digit in digits.iter_mut().rev() {
        let value = (rest % u64::from(BASE)) as u8;
        *digit = if value < 10 { b'0' + value } else { b'a' + value - 10 };
        rest /= u64::from(BASE);
    }
    out.extend_from_slice(PREFIX);
    out.extend_from_slice(&digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were_and_ids_take_six() {
        for (text, length) in [
            ("", 0),
            ("qp-zzzzzzzz", 6),
            ("qp-00000000", 6),
            ("qp-qp-a1b2c3d4-title", 15),
            ("aqp-0a9z8y7xqp-12345678b", 14),
            ("qp-A1b2c3d4 qp-a1b2c3", 21),
        ] {
            let short = compress(text.as_bytes());
            assert_eq!((short.len(), decompress(&short)), (length, Some(text.as_bytes().to_vec())), "{text}");
        }
        let odd: Vec<u8> = (0..=255).chain(*b"qp-").chain(250..=255).collect();
        assert_eq!(decompress(&compress(&odd)), Some(odd));
    }

    #[test]
    fn what_ends_too_early_is_not_taken() {
        let short = compress(b"qp-zzzzzzzz\xff");
        let whole: Vec<usize> = (0..=short.len()).filter(|end| decompress(&short[..*end]).is_some()).collect();
        assert_eq!(whole, [0, 6, 8]);
    }
}
