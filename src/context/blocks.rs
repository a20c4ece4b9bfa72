//! Which blocks of notes are shown in place of their bodies.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use crate::note::{Note, joined};
use crate::report::{BlockEntry, Gist, ShownBlocks};
use crate::request::BlockChoice;
use crate::search::Highlighter;

/// How many blocks are shown; `None` for no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockLimits {
    /// The most of a note.
    pub per_note: Option<usize>,
    /// The most in all.
    pub in_all: Option<usize>,
}

/// What was chosen of one note.
pub struct ChosenBlocks {
    /// The blocks that are shown.
    pub blocks: ShownBlocks,
    /// Whether it has a block that was asked for.
    pub has_any: bool,
    /// Whether such a block is shown.
    pub is_shown: bool,
}

impl ChosenBlocks {
    fn new(blocks: Vec<BlockEntry>, has_more: bool) -> Self {
        let is_shown = !blocks.is_empty();
        Self { has_any: is_shown || has_more, is_shown, blocks: ShownBlocks(Arc::new(move |_| blocks.clone())) }
    }
}

/// Chooses the blocks of notes in their order. Returns those of each note, and whether limits left any out.
///
/// Where all blocks are shown without limits, they are looked for when a note is shown, so that a note which
/// does not fit costs nothing.
pub fn show_blocks<'a>(
    notes: impl IntoIterator<Item = &'a Arc<Note>>,
    choice: BlockChoice,
    limits: BlockLimits,
    highlighter: Option<&Arc<Highlighter>>,
) -> (Vec<ChosenBlocks>, bool) {
    // Without words to look for, all blocks match, and none of them is better than another.
    let choice = if highlighter.is_none() && choice == BlockChoice::Matched { BlockChoice::All } else { choice };
    let chooser = BlockChooser { choice, highlighter: highlighter.cloned() };
    if limits == BlockLimits::default() && choice == BlockChoice::All {
        let all = ShownBlocks(Arc::new(move |note| chooser.choose(note, usize::MAX).0));
        let chosen = |_| ChosenBlocks { blocks: all.clone(), has_any: true, is_shown: true };
        return (notes.into_iter().map(chosen).collect(), false);
    }
    let per_note = limits.per_note.unwrap_or(usize::MAX);
    if let (BlockChoice::Top, Some(in_all)) = (choice, limits.in_all) {
        let chosen = notes.into_iter().map(|note| chooser.choose(note, per_note)).collect();
        return best_of_all(chosen, in_all);
    }
    let mut left = limits.in_all.unwrap_or(usize::MAX);
    let mut is_limited = false;
    let chosen = notes.into_iter().map(|note| {
        let (blocks, has_more) = chooser.choose(note, left.min(per_note));
        left -= blocks.len();
        is_limited |= has_more;
        ChosenBlocks::new(blocks, has_more)
    });
    let chosen = chosen.collect();
    (chosen, is_limited)
}

/// Tells whether a block of a note holds a word that was searched for.
pub(super) fn has_answer(note: &Note, highlighter: &Highlighter) -> bool {
    note.blocks().iter().any(|block| highlighter.idf_weight(&block.text) > 0.0)
}

/// Finds all blocks of notes, each with how much it holds of what was asked.
pub(super) fn answers(highlighter: &Arc<Highlighter>) -> ShownBlocks {
    let chooser = BlockChooser { choice: BlockChoice::All, highlighter: Some(Arc::clone(highlighter)) };
    ShownBlocks(Arc::new(move |note| chooser.choose(note, usize::MAX).0))
}

/// Keeps the best blocks of several notes, so many at most; of blocks that are as good the first.
fn best_of_all(chosen: Vec<(Vec<BlockEntry>, bool)>, most: usize) -> (Vec<ChosenBlocks>, bool) {
    let all = chosen.iter().enumerate().flat_map(|(note, (blocks, _))| {
        blocks.iter().enumerate().map(move |(place, block)| (block.score, note, place))
    });
    let mut all: Vec<(f64, usize, usize)> = all.collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let is_limited = all.len() > most || chosen.iter().any(|(_, has_more)| *has_more);
    let best: HashSet<(usize, usize)> = all.into_iter().take(most).map(|(_, note, place)| (note, place)).collect();
    let kept = chosen.into_iter().enumerate().map(|(note, (blocks, has_more))| {
        let has_any = has_more || !blocks.is_empty();
        let blocks = blocks.into_iter().enumerate().filter(|(place, _)| best.contains(&(note, *place)));
        ChosenBlocks::new(blocks.map(|(_, block)| block).collect(), has_any)
    });
    (kept.collect(), is_limited)
}

/// Sums journals up that have no summary in prose: with their first blocks, so many at most.
pub fn gist(most: Option<usize>) -> Gist {
    Gist(Arc::new(move |note| {
        let blocks = note.blocks().into_iter().take(most.unwrap_or(usize::MAX));
        joined(blocks.map(|block| block.text), MAX_GIST)
    }))
}

/// The most characters that sum a journal up.
const MAX_GIST: usize = 480;

struct BlockChooser {
    choice: BlockChoice,
    highlighter: Option<Arc<Highlighter>>,
}

impl BlockChooser {
    /// Returns so many blocks of a note at most, in the order of the text, and whether there are more.
    fn choose(&self, note: &Note, most: usize) -> (Vec<BlockEntry>, bool) {
        let blocks = note.blocks().into_iter().enumerate().map(|(number, block)| BlockEntry {
            id: block.anchor.unwrap_or_else(|| format!("{}#b{}", note.id, number + 1)),
            score: self.highlighter.as_ref().map_or(0.0, |highlighter| highlighter.idf_weight(&block.text)),
            path: block.path,
            text: block.text,
            depth: block.depth,
        });
        let is_wanted = |block: &BlockEntry| self.choice == BlockChoice::All || block.score > 0.0;
        let mut blocks: Vec<BlockEntry> = blocks.filter(is_wanted).collect();
        let has_more = blocks.len() > most;
        if self.choice == BlockChoice::Top && has_more {
            blocks = best(blocks, most);
        }
        blocks.truncate(most);
        (blocks, has_more)
    }
}

/// Returns the blocks that hold the most, in their order; the first of those that hold as much.
fn best(blocks: Vec<BlockEntry>, most: usize) -> Vec<BlockEntry> {
    let mut ranked: Vec<(usize, f64)> = blocks.iter().map(|block| block.score).enumerate().collect();
    ranked.sort_by(|a, b| b.1.partial_cmp(&a.1).unwrap_or(Ordering::Equal));
    let kept: HashSet<usize> = ranked.into_iter().take(most).map(|(place, _)| place).collect();
    blocks.into_iter().enumerate().filter(|(place, _)| kept.contains(place)).map(|(_, block)| block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::Language;
    use crate::search::{Engine, Query};

    #[test]
    fn all_matched_and_top_within_limits() {
        let body = "# A\n\n- fsync fails\n- nothing\n- fsync and log ^two\n\n## B\n\nlog alone\n";
        let notes = [Arc::new(Note::parse("notes/n.md", format!("---\nid: n\n---\n{body}").into_bytes()))];
        let engine = Engine::new(&notes, Language::English);
        let highlighter = engine.search(&Query::parse("fsync log"), None).highlighter.map(Arc::new);
        let shown = |choice, per_note, in_all, highlighter: Option<&Arc<Highlighter>>| {
            let (blocks, is_limited) = show_blocks(&notes, choice, BlockLimits { per_note, in_all }, highlighter);
            let ids: Vec<String> =
                blocks.iter().flat_map(|chosen| (chosen.blocks.0)(&notes[0])).map(|block| block.id).collect();
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
