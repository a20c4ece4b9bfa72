//! The share of questions among the sentences of a text.

/// The unit of the stored share of questions: a text of questions only has this many.
pub(crate) const QUESTION_UNITS: u8 = 15;

/// Returns the share of the sentences of a text that end in a question mark, 0 to 1. O(bytes).
pub(crate) fn question_share(text: &str) -> f64 {
    if !text.contains('?') {
        return 0.0;
    }
    let (mut questions, mut sentences) = (0_u32, 0_u32);
    let text = text.trim_end();
    let bytes = text.as_bytes();
    for (offset, byte) in bytes.iter().enumerate() {
        let is_end = matches!(byte, b'.' | b'!' | b'?')
            && bytes
                .get(offset + 1)
                .is_none_or(|next| next.is_ascii_whitespace() || matches!(next, b'"' | b'\'' | b')' | b'*' | b'_'));
        sentences += u32::from(is_end);
        questions += u32::from(is_end && *byte == b'?');
    }
    // The rest behind the last full stop is a sentence too.
    sentences += u32::from(text.ends_with(|c: char| c.is_alphanumeric()));
    if sentences == 0 { 0.0 } else { f64::from(questions) / f64::from(sentences) }
}
