//! Links found without parsing markdown, in texts where that is simple: parsing is most of the cost of links.
//!
//! Where no block reaches over a blank line but code between fences, each paragraph is read by itself, and only those with a
//! bracket: most have none, and in most others each bracket is one of `[[target]]`. Any other paragraph has to be parsed.

use super::markdown::MAX_PARSED;

const FENCE: &str = "```";

/// What links are read from.
pub(super) enum LinkSource<'a> {
    /// The target of `[[target]]` or `[[target|label]]`.
    Target(&'a str),
    /// A paragraph that has to be parsed.
    Unparsed(&'a str),
}

/// Returns what the links of a text are read from, in its order; `None` if the whole text has to be parsed.
pub(super) fn sources(text: &str) -> Option<Vec<LinkSource<'_>>> {
    // A carriage return ends a line too.
    if text.len() > MAX_PARSED || text.contains('\r') {
        return None;
    }
    let (mut sources, mut paragraph_start, mut offset, mut is_in_code) = (Vec::new(), 0, 0, false);
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        if is_in_code {
            let is_fence = line.trim_start_matches(' ').starts_with(FENCE);
            if is_fence && line != FENCE {
                return None;
            }
            is_in_code = !is_fence;
            paragraph_start = offset;
            continue;
        }
        let info = line.strip_prefix(FENCE);
        if info.is_none() && !line.is_empty() {
            if begins_far_reaching(line) {
                return None;
            }
            continue;
        }
        add_sources(text.get(paragraph_start..start)?, &mut sources)?;
        is_in_code = info.is_some();
        paragraph_start = offset;
        if info.is_some_and(|info| info.contains('`')) {
            return None;
        }
    }
    add_sources(text.get(paragraph_start..)?, &mut sources)?;
    Some(sources)
}

/// Whether a line may begin code or HTML, which can reach over blank lines, other than code between plain fences. The signs
/// before its text may be those of lists and quotes.
fn begins_far_reaching(line: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_digit() || matches!(byte, b' ' | b'-' | b'*' | b'+' | b'>' | b'.' | b')');
    let end = line.bytes().position(|byte| !is_sign(byte)).unwrap_or(line.len());
    let (signs, text) = line.split_at_checked(end).unwrap_or((line, ""));
    let is_code = text.starts_with(FENCE) || text.starts_with("~~~") || signs.len() > 3 && signs.contains("    ");
    is_code || text.starts_with(['<', '\t'])
}

/// Adds what the links of a paragraph are read from; `None` if it may define labels, which have an effect on the whole text.
fn add_sources<'a>(paragraph: &'a str, sources: &mut Vec<LinkSource<'a>>) -> Option<()> {
    if !paragraph.contains('[') {
        return Some(());
    }
    let known = sources.len();
    if add_targets(paragraph, sources).is_none() {
        sources.truncate(known);
        sources.push(LinkSource::Unparsed(paragraph));
        return (!paragraph.contains("]:")).then_some(());
    }
    Some(())
}

/// Adds the targets of the links of a paragraph whose brackets are all those of wiki links, outside of code; `None` if it has
/// others, or characters that can change their meaning.
fn add_targets<'a>(paragraph: &'a str, sources: &mut Vec<LinkSource<'a>>) -> Option<()> {
    let is_one_line = !paragraph.trim_end_matches('\n').contains('\n');
    // Bars of several lines may be those of a table, and code may end where an item of a list does.
    let (others, line_signs) = paragraph.bytes().fold((false, false), |(others, line_signs), byte| {
        (others | (byte == b'\\') | (byte == b'<'), line_signs | (byte == b'`') | (byte == b'|'))
    });
    if others || line_signs && !is_one_line {
        return None;
    }
    let bytes = paragraph.as_bytes();
    let mut offset = 0;
    while let Some(found) = bytes.get(offset..)?.iter().position(|byte| matches!(byte, b'[' | b']' | b'`')) {
        let start = offset + found;
        let rest = paragraph.get(start..)?;
        offset = start
            + match rest.as_bytes().first()? {
                b'`' => code_len(rest)?,
                _ if paragraph.get(..start)?.ends_with('!') => return None,
                _ => {
                    let (target, length) = wiki_link(rest)?;
                    sources.push(LinkSource::Target(target));
                    length
                }
            };
    }
    Some(())
}

/// Returns the length of the code in a line that begins with a backtick: up to the next one, or of the backtick alone. `None`
/// if several adjoin.
fn code_len(line: &str) -> Option<usize> {
    let is_run = |end: usize| line.as_bytes().get(end) == Some(&b'`');
    let Some(length) = line.get(1..)?.find('`') else { return Some(1) };
    (length > 0 && !is_run(length + 2)).then_some(length + 2)
}

/// Returns the target and the length of the link `[[target]]` or `[[target|label]]` with which a text begins; `None` if the text
/// begins otherwise, or if what follows may make it another link.
fn wiki_link(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix("[[")?;
    let end = inner.bytes().position(|byte| !(is_plain(byte) || byte == b'|'))?;
    let (inner, behind) = inner.split_at_checked(end)?;
    let behind = behind.strip_prefix("]]")?;
    let (target, label) = inner.split_once('|').unwrap_or((inner, "label"));
    let is_simple = !target.trim().is_empty() && !label.trim().is_empty() && !label.contains('|');
    let is_other = behind.starts_with(['[', ']', '(']);
    (is_simple && !is_other).then_some((target.trim(), text.len() - behind.len()))
}

/// Whether a byte means nothing but itself in the target and the label of a link.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(byte, b' ' | b'-' | b'_' | b'.' | b'/' | b'#' | b':' | b',')
}
