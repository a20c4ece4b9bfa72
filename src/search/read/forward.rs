//! The forward index: the words of each document.

use crate::codec::bits::BitReader;
use crate::codec::offsets::Offsets;
use crate::search::ids::{DocId, WordId};
use crate::search::postings::TextField;

/// The text of a note as word or term ids, in text order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocText<Id> {
    /// The title and the aliases, as one text.
    pub(crate) title: Vec<Id>,
    pub(crate) tags: Vec<Vec<Id>>,
    /// The headings other than the title.
    pub(crate) headings: Vec<Id>,
    /// The paragraphs of the body.
    pub(crate) paragraphs: Offsets,
    /// The body, followed by a summary in the frontmatter.
    pub(crate) body: Vec<Id>,
    /// The length of the body without the summary.
    pub(crate) body_len: usize,
}

impl<Id: Copy> DocText<Id> {
    pub(crate) fn map<To>(self, mut to: impl FnMut(Id) -> To) -> DocText<To> {
        let mut map = |ids: Vec<Id>| ids.into_iter().map(&mut to).collect();
        DocText {
            title: map(self.title),
            tags: self.tags.into_iter().map(&mut map).collect(),
            headings: map(self.headings),
            paragraphs: self.paragraphs,
            body: map(self.body),
            body_len: self.body_len,
        }
    }

    /// Returns the ids of all fields except the headings, which are part of the body.
    pub(crate) fn all(&self) -> Vec<Id> {
        self.title.iter().chain(self.tags.iter().flatten()).chain(&self.body).copied().collect()
    }

    pub(crate) fn own_body(&self) -> &[Id] {
        self.body.get(..self.body_len).unwrap_or_default()
    }

    pub(crate) fn paragraphs(&self) -> impl Iterator<Item = &[Id]> {
        (0..self.paragraphs.row_count()).map(|row| self.paragraphs.row(row, &self.body))
    }
}

/// The encoded forward entry of a document.
#[derive(Clone, Copy)]
pub(crate) struct ForwardEntry<'a> {
    pub(crate) doc: DocId,
    pub(crate) bytes: &'a [u8],
    /// The number of words in the segment: the index may be anybody's, and an id from it may be larger.
    pub(crate) word_count: usize,
}

impl ForwardEntry<'_> {
    /// Calls `visit` with each word of each field; `None` if the entry is corrupt.
    pub(crate) fn visit(&self, mut visit: impl FnMut(TextField, WordId)) -> Option<()> {
        let mut bits = BitReader::new(self.bytes);
        let mut visit_list = |bits: &mut BitReader<'_>, field| {
            let count = bits.read_int()?;
            bits.read_ints(count, |word| self.has(word).then(|| visit(field, WordId(word))))
        };
        visit_list(&mut bits, TextField::Title)?;
        let mut tags_len = bits.read_int()?;
        while tags_len > 0 {
            let tag = bits;
            let count = bits.read_int()?;
            bits = tag;
            visit_list(&mut bits, TextField::Tag { is_whole: count == 1 })?;
            tags_len = tags_len.checked_sub(count.checked_add(1)?)?;
        }
        visit_list(&mut bits, TextField::Heading)?;
        let paragraphs = bits.read_int()?;
        bits.read_ints(paragraphs, |_len| Some(()))?;
        visit_list(&mut bits, TextField::Body)?;
        visit_list(&mut bits, TextField::Body)
    }

    /// Decodes the words of all fields; `None` if the entry is corrupt.
    pub(crate) fn decode(&self) -> Option<DocText<WordId>> {
        let mut bits = BitReader::new(self.bytes);
        let title = self.read_words(&mut bits, 0)?;
        let mut all_tags = bits.read_list()?.into_iter();
        let mut tags: Vec<Vec<WordId>> = Vec::new();
        while let Some(count) = all_tags.next() {
            let words = all_tags.by_ref().take(count as usize);
            tags.push(words.map(|word| self.has(word).then_some(WordId(word))).collect::<Option<_>>()?);
        }
        let headings = self.read_words(&mut bits, 0)?;
        let paragraph_lens = bits.read_list()?;
        let summary = self.read_words(&mut bits, 0)?;
        let mut body = self.read_words(&mut bits, summary.len())?;
        let (mut paragraphs, body_len) = (Offsets::<u32>::with_capacity(paragraph_lens.len()), body.len());
        // Behind a sum that overflows, there are no paragraphs.
        for len in paragraph_lens {
            let Some(end) = paragraphs.total().checked_add(len) else { break };
            paragraphs.push(end);
        }
        body.extend(summary);
        Some(DocText { title, tags, headings, paragraphs, body, body_len })
    }

    /// Reads a list of words, with room for so many more.
    fn read_words(&self, bits: &mut BitReader<'_>, more: usize) -> Option<Vec<WordId>> {
        let count = bits.read_int()?;
        let mut words = Vec::with_capacity(bits.max_ints(count) + more);
        bits.read_ints(count, |word| self.has(word).then(|| words.push(WordId(word))))?;
        Some(words)
    }

    fn has(&self, word: u32) -> bool {
        (word as usize) < self.word_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bits::BitWriter;

    /// Returns whether the entry with some lists is decoded and visited, in a segment of three words.
    fn is_valid(lists: &[[u32; 2]; 6]) -> (bool, bool) {
        let mut bits = BitWriter::default();
        lists.iter().for_each(|list| bits.write_list(list.iter().copied()));
        let bytes = bits.finish();
        let entry = ForwardEntry { doc: DocId(0), bytes: &bytes, word_count: 3 };
        (entry.decode().is_some(), entry.visit(|_, _| {}).is_some())
    }

    #[test]
    fn a_word_that_the_segment_does_not_have_is_corrupt() {
        // Title, a tag behind its length, headings, lengths of paragraphs, summary, body.
        let lists = [[0, 1], [1, 2], [2, 0], [1, 1], [0, 1], [2, 1]];
        assert_eq!(is_valid(&lists), (true, true));
        for list in [0, 1, 2, 4, 5] {
            let mut other = lists;
            other[list][1] = 3;
            assert_eq!(is_valid(&other), (false, false), "list {list}");
        }
    }
}
