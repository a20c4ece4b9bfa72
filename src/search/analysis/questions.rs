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
    let behind = bytes.get(1..).unwrap_or_default();
    for (some, behind) in bytes.chunks(SPAN).zip(behind.chunks(SPAN)) {
        let (some_questions, some_sentences) = ends(some, behind);
        questions += u32::from(some_questions);
        sentences += u32::from(some_sentences);
    }
    // Nothing follows the last byte.
    questions += u32::from(bytes.last() == Some(&b'?'));
    sentences += u32::from(bytes.last().is_some_and(|byte| matches!(byte, b'.' | b'!' | b'?')));
    // The rest behind the last full stop is a sentence too.
    sentences += u32::from(text.ends_with(|c: char| c.is_alphanumeric()));
    if sentences == 0 { 0.0 } else { f64::from(questions) / f64::from(sentences) }
}

/// The number of bytes that are counted at once, at most 255: the counters are `u8`.
const SPAN: usize = 240;

/// Counts the question marks that end a sentence, and all bytes that do, among at most [`SPAN`] bytes, each with the byte
/// behind it. The counters can't overflow, and without branches and checks for it many bytes are looked at at once.
fn ends(bytes: &[u8], behind: &[u8]) -> (u8, u8) {
    let is_behind = |byte: u8| {
        let is_space = (byte == b' ') | (byte == b'\n') | (byte == b'\t') | (byte == b'\r') | (byte == 0x0c);
        is_space | (byte == b'"') | (byte == b'\'') | (byte == b')') | (byte == b'*') | (byte == b'_')
    };
    bytes.iter().zip(behind).fold((0, 0), |(questions, sentences): (u8, u8), (byte, next)| {
        let is_question = (*byte == b'?') & is_behind(*next);
        let is_end = is_question | (((*byte == b'.') | (*byte == b'!')) & is_behind(*next));
        (questions.wrapping_add(u8::from(is_question)), sentences.wrapping_add(u8::from(is_end)))
    })
}
