//! The choice of the blocks that are shown in place of bodies.

use std::collections::HashSet;
use std::sync::Arc;

use super::query_content::QueryContent;
use crate::report::{BlockEntry, NoteContent, ShownBlocks};
use crate::request::BlockChoice;
use crate::search::Highlighter;
use crate::store::NoteHandle;

/// The limits on shown blocks; `None` for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockLimits {
    /// The most blocks of one note.
    pub per_note: Option<usize>,
    /// The most blocks of all notes.
    pub in_all: Option<usize>,
}

/// The blocks of one note that are shown.
pub struct ChosenBlocks {
    pub(crate) blocks: ShownBlocks,
    /// Whether the note has a block of the kind that was asked for.
    pub(crate) has_any: bool,
    /// Whether such a block is shown.
    pub(crate) is_shown: bool,
}

impl ChosenBlocks {
    fn new(blocks: Vec<BlockEntry>, has_more: bool) -> Self {
        let is_shown = !blocks.is_empty();
        Self { has_any: is_shown || has_more, is_shown, blocks: ShownBlocks::Some(blocks) }
    }
}

/// Chooses the blocks of notes in the order of the notes. Returns those of each note, and whether limits left any out.
///
/// All blocks without limits are computed when their note is shown, so that a note without room costs nothing.
pub fn choose_blocks<'a>(
    notes: impl IntoIterator<Item = &'a Arc<NoteHandle>>,
    choice: BlockChoice,
    limits: BlockLimits,
    content: &QueryContent,
) -> (Vec<ChosenBlocks>, bool) {
    // Without a query, all blocks match, and none is better than another.
    let has_query = content.highlighter.is_some();
    let choice = if !has_query && choice == BlockChoice::Matched { BlockChoice::All } else { choice };
    if limits == BlockLimits::default() && choice == BlockChoice::All {
        let all = |_| ChosenBlocks { blocks: ShownBlocks::All, has_any: true, is_shown: true };
        return (notes.into_iter().map(all).collect(), false);
    }
    let per_note = limits.per_note.unwrap_or(usize::MAX);
    if let (BlockChoice::Top, Some(in_all)) = (choice, limits.in_all) {
        let of_notes = notes.into_iter().map(|note| blocks_of(note, choice, per_note, content));
        let (mut blocks, have_more): (Vec<Vec<BlockEntry>>, Vec<bool>) = of_notes.unzip();
        let is_limited = have_more.contains(&true) || blocks.iter().map(Vec::len).sum::<usize>() > in_all;
        let have_any: Vec<bool> = blocks.iter().zip(have_more).map(|(all, more)| more || !all.is_empty()).collect();
        keep_best(&mut blocks, in_all);
        let chosen = blocks.into_iter().zip(have_any).map(|(blocks, has_any)| ChosenBlocks::new(blocks, has_any));
        return (chosen.collect(), is_limited);
    }
    let mut rest = limits.in_all.unwrap_or(usize::MAX);
    let mut is_limited = false;
    let chosen = notes.into_iter().map(|note| {
        let (blocks, has_more) = blocks_of(note, choice, rest.min(per_note), content);
        rest -= blocks.len();
        is_limited |= has_more;
        ChosenBlocks::new(blocks, has_more)
    });
    let chosen = chosen.collect();
    (chosen, is_limited)
}

/// Whether a block of the note contains a word of the query.
pub(super) fn has_answer(note: &NoteHandle, highlighter: &Highlighter) -> bool {
    note.parsed_or_empty().blocks().iter().any(|block| highlighter.idf_weight(&block.text) > 0.0)
}

/// Returns at most `limit` blocks of a note in the order of the text, and whether there are more.
fn blocks_of(note: &NoteHandle, choice: BlockChoice, limit: usize, content: &QueryContent) -> (Vec<BlockEntry>, bool) {
    let mut blocks = content.blocks(note);
    blocks.retain(|block| choice == BlockChoice::All || block.score > 0.0);
    let has_more = blocks.len() > limit;
    if choice == BlockChoice::Top && has_more {
        keep_best(std::slice::from_mut(&mut blocks), limit);
    }
    blocks.truncate(limit);
    (blocks, has_more)
}

/// Keeps the `limit` blocks of several notes with the highest scores; of equal scores the first.
fn keep_best(notes: &mut [Vec<BlockEntry>], limit: usize) {
    let all = notes
        .iter()
        .enumerate()
        .flat_map(|(note, blocks)| blocks.iter().enumerate().map(move |(index, block)| (block.score, note, index)));
    let mut all: Vec<(f64, usize, usize)> = all.collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let best: HashSet<(usize, usize)> = all.into_iter().take(limit).map(|(_, note, index)| (note, index)).collect();
    for (note, blocks) in notes.iter_mut().enumerate() {
        let mut indices = 0..;
        blocks.retain(|_| indices.next().is_some_and(|index| best.contains(&(note, index))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Language;
    use crate::search::{Engine, Query};

    #[test]
    fn all_matched_and_top_within_limits() {
        let body = "# A\n\n- fsync fails\n- nothing\n- fsync and log ^two\n\n## B\n\nlog alone\n";
        let notes = [Arc::new(NoteHandle::parse("notes/n.md", format!("---\nid: n\n---\n{body}").into_bytes()))];
        let engine = Engine::new(&notes, Language::English);
        let highlighter = engine.search(&Query::question("fsync log"), None).highlighter.map(Arc::new);
        let shown = |choice, per_note, in_all, highlighter: Option<&Arc<Highlighter>>| {
            let content = QueryContent::new(highlighter.cloned(), None);
            let (chosen, is_limited) = choose_blocks(&notes, choice, BlockLimits { per_note, in_all }, &content);
            let blocks = chosen.into_iter().flat_map(|chosen| match chosen.blocks {
                ShownBlocks::All => content.blocks(&notes[0]),
                ShownBlocks::Some(blocks) => blocks,
            });
            let ids: Vec<String> = blocks.map(|block| block.id).collect();
            (ids.join(" "), is_limited)
        };
        let is = |ids: &str, is_limited| (ids.to_owned(), is_limited);
        assert_eq!(shown(BlockChoice::All, None, None, highlighter.as_ref()), is("n#b1 n#b2 two n#b4", false));
        assert_eq!(shown(BlockChoice::Matched, None, None, highlighter.as_ref()), is("n#b1 two n#b4", false));
        assert_eq!(shown(BlockChoice::Top, None, None, highlighter.as_ref()), is("n#b1 two n#b4", false));
        assert_eq!(shown(BlockChoice::All, Some(2), None, highlighter.as_ref()), is("n#b1 n#b2", true));
        assert_eq!(shown(BlockChoice::Matched, None, Some(2), highlighter.as_ref()), is("n#b1 two", true));
        assert_eq!(shown(BlockChoice::Top, Some(1), Some(9), highlighter.as_ref()), is("two", true));
        assert_eq!(shown(BlockChoice::Top, Some(4), Some(9), highlighter.as_ref()), is("n#b1 two n#b4", false));
        assert_eq!(shown(BlockChoice::Matched, Some(4), None, None), is("n#b1 n#b2 two n#b4", false));
        assert_eq!(shown(BlockChoice::Top, Some(4), None, None), is("", false), "no block without a hit is shown");
    }
}
