//! Queries in maps of content: code blocks of the language `qipu`, each a filter. The notes that match belong to the map.

use std::cmp::Reverse;

use super::{NoteFilter, Session};
use crate::error::Error;
use crate::note::BlockKind;
use crate::request::Filters;
use crate::store::{NoteHandle, NoteIdx};

/// The language of the code blocks.
const LANGUAGE: &str = "qipu";
/// The most queries of a map that count.
const MAX_QUERIES: usize = 16;

/// Returns the filters in the body of a map of content, in their order; none of any other note.
pub fn map_queries(note: &NoteHandle) -> Vec<String> {
    if !note.flags.is_moc {
        return Vec::new();
    }
    let blocks = note.parsed_or_empty().blocks();
    let code = blocks.iter().filter(|block| block.kind == BlockKind::Code);
    code.filter_map(|block| filter_in(&block.text)).take(MAX_QUERIES).collect()
}

/// Returns the filter in a fenced code block, on one line; `None` for a block of another language.
fn filter_in(block: &str) -> Option<String> {
    let is_fence = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let mut lines = block.lines();
    let language = lines.next().filter(is_fence)?.trim_start().trim_start_matches(['`', '~']);
    let filter: Vec<&str> = lines.take_while(|line| !is_fence(line)).collect();
    (language.trim() == LANGUAGE).then(|| filter.join(" ").trim().to_owned())
}

/// Returns the notes that match a query of a map, the latest change first.
pub(super) fn notes_of_query(session: &Session<'_>, query: &str) -> Result<Vec<NoteIdx>, Error> {
    let filter = NoteFilter::new(session, &Filters::of(query))?;
    let notes = session.store.notes();
    let mut found: Vec<NoteIdx> = NoteIdx::all(notes.len()).filter(|note| filter.matches(*note)).collect();
    found.sort_by_cached_key(|note| (Reverse(notes[*note].list_fields().changed()), *note));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_of_the_language_are_queries() {
        assert_eq!(filter_in("```qipu\ntag = a\nand done\n```").as_deref(), Some("tag = a and done"));
        assert_eq!(filter_in("~~~ qipu\n@open\n~~~").as_deref(), Some("@open"));
        assert_eq!(filter_in("```sql\ntag = a\n```"), None);
        assert_eq!(filter_in("    qipu"), None);
    }
}
