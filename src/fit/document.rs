//! A document under construction: its texts, their length, and the state that its frame shows.

use super::budget::{OutputLimits, TextSize};
use super::selector::{Proposal, ShownNote};
use crate::render::{AnswerTail, EntryText, FrameState, Included, Omissions, Renderer, ShownPart};
use crate::report::{DetailLevel, Entry, NoteEntry, NoteLevel, Report, SelectionStats};

/// A document under construction.
#[derive(Clone)]
pub(super) struct DocumentBuilder<'a> {
    pub(super) report: &'a Report,
    pub(super) renderer: &'a dyn Renderer,
    pub(super) limits: OutputLimits,
    pub(super) included: Included,
    /// The text of each accepted entry, with the index of the entry.
    pub(super) texts: Vec<(usize, EntryText)>,
    /// The characters of the texts and of the separators between them.
    pub(super) chars: usize,
    /// The number of notes among the accepted entries.
    pub(super) notes: usize,
    pub(super) has_cut: bool,
    /// Whether the frame is reduced to its necessary parts.
    pub(super) is_brief: bool,
    /// Whether every entry is accepted.
    pub(super) is_complete: bool,
    /// Whether each section has an item, so that the next one needs a separator.
    pub(super) used_sections: Vec<bool>,
    /// The assessed notes among the accepted entries.
    pub(super) shown: Vec<ShownNote>,
    /// The statistics of `shown`.
    pub(super) stats: Option<SelectionStats>,
    /// The derived entries without room.
    pub(super) omissions: Omissions,
    /// The end of the answer.
    pub(super) tail: AnswerTail,
    /// Whether passages of pages before are left out.
    pub(super) has_pages_before: bool,
}

/// The parts of a document that change when an entry is replaced.
pub(super) struct EntryBackup {
    text: Option<EntryText>,
    shown: Vec<ShownNote>,
    chars: usize,
    used_sections: Vec<bool>,
}

impl<'a> DocumentBuilder<'a> {
    pub(super) fn new(report: &'a Report, renderer: &'a dyn Renderer, limits: OutputLimits) -> Self {
        let all_patterns = report.entries.iter().filter(|entry| matches!(entry, Entry::Pattern(_))).count();
        Self {
            report,
            renderer,
            limits,
            included: Included::all(report.entries.len(), false),
            texts: Vec::new(),
            chars: 0,
            notes: 0,
            has_cut: false,
            is_brief: false,
            is_complete: false,
            used_sections: Vec::new(),
            shown: Vec::new(),
            stats: None,
            omissions: Omissions { all_patterns, ..Omissions::default() },
            tail: AnswerTail::default(),
            has_pages_before: false,
        }
    }

    /// Returns the text of the document.
    pub(super) fn finish(mut self) -> Result<String, TextSize> {
        // The statistics may have become longer with the last skipped entry.
        if !self.has_room(self.frame_state(self.is_truncated()), None) {
            self.is_brief = true;
        }
        let frame = self.renderer.frame(self.frame_state(self.is_truncated()));
        let text = self.renderer.assemble(&frame, &self.texts);
        if self.limits.has_room(&text) { Ok(text) } else { Err(self.limits.size(&text)) }
    }

    /// Reduces the frame to its necessary parts if it exceeds the limits. `everything`: the size of the whole document.
    pub(super) fn make_room_for_frame(&mut self, everything: TextSize) -> Result<(), TextSize> {
        if self.report.entries.is_empty() && !self.has_optional_frame() {
            return Err(everything);
        }
        if !self.has_room(self.frame_state(true), None) || self.report.entries.is_empty() {
            // The smallest budget must not depend on the length of the question.
            self.is_brief = true;
        }
        if self.has_room(self.frame_state(true), None) {
            return Ok(());
        }
        let frame = self.renderer.frame(self.frame_state(true));
        let empty = self.limits.size(&self.renderer.assemble(&frame, &self.texts));
        Err(self.limits.smaller(everything, empty))
    }

    /// Whether the accepted texts, one more text and a frame are within the limits.
    pub(super) fn has_room(&self, shown: FrameState<'_>, more: Option<(usize, &EntryText)>) -> bool {
        let chars = more.map_or(self.chars, |(_, text)| self.chars_with(text));
        if chars + self.renderer.frame_chars(shown) > self.limits.chars {
            return false;
        }
        let Some(max_tokens) = self.limits.tokens else { return true };
        let frame = self.renderer.frame(shown);
        let text = match more {
            None => self.renderer.assemble(&frame, &self.texts),
            Some((index, text)) => {
                let mut texts = self.texts.clone();
                texts.push((index, text.clone()));
                self.renderer.assemble(&frame, &texts)
            }
        };
        self.limits.tokenizer.count(&text) <= max_tokens
    }

    /// Whether the frame has parts that are not necessary. If not, an answer without entries can't be shortened.
    fn has_optional_frame(&self) -> bool {
        let stats = self.stats.as_ref();
        let omissions = Omissions::default();
        let tail = &self.tail;
        let shown =
            FrameState { notes: 0, is_truncated: false, is_empty: true, is_brief: false, stats, omissions, tail };
        let frame = |is_brief| self.renderer.frame(FrameState { is_brief, ..shown }).0;
        frame(false) != frame(true)
    }

    /// Records that a derived entry has no room. If the frame has no room for that, the last derived ones are removed.
    pub(super) fn omit(&mut self, entry: &Entry) {
        let before = self.clone();
        self.count_omission(entry);
        while !self.has_room(self.frame_state(true), None) {
            let is_derived = |(index, _): &mut (usize, EntryText)| self.report.entries[*index].is_derived();
            let Some((index, text)) = self.texts.pop_if(is_derived) else {
                *self = before;
                return;
            };
            self.subtract(&text);
            self.included.entries[index] = false;
            self.count_omission(&self.report.entries[index]);
        }
    }

    fn count_omission(&mut self, entry: &Entry) {
        match entry {
            Entry::Comparison(_) => self.omissions.has_comparison = true,
            Entry::Pattern(_) => self.omissions.patterns += 1,
            _ => {}
        }
    }

    pub(super) fn accept(&mut self, index: usize, text: EntryText) {
        self.notes += usize::from(self.note(index).is_some());
        self.included.entries[index] = true;
        self.push(index, text);
    }

    pub(super) fn push(&mut self, index: usize, text: EntryText) {
        self.chars = self.chars_with(&text);
        for item in &text.items {
            use_section(&mut self.used_sections, item.section);
        }
        self.has_cut |= text.is_cut;
        self.texts.push((index, text));
    }

    /// Shows an entry with another shown part, or for the first time. `position`: the index of its text among the texts;
    /// `text`: the text with that part, if it is known.
    pub(super) fn replace(
        &mut self,
        position: usize,
        shown_part: ShownPart,
        proposal: &Proposal,
        text: Option<EntryText>,
    ) -> EntryBackup {
        let entry = proposal.entry;
        let text = text.unwrap_or_else(|| self.renderer.render(entry, shown_part, &self.included));
        let (chars, used_sections, shown) = (self.chars, self.used_sections.clone(), self.shown.clone());
        let old = self.texts.iter().position(|(other, _)| *other == entry);
        let old = old.map(|position| self.texts.remove(position).1);
        if let Some(old) = &old {
            self.shown.retain(|shown| shown.entry != entry);
            self.notes -= 1;
            self.subtract(old);
        }
        if self.is_assessed(entry) {
            let level =
                if matches!(shown_part, ShownPart::Passages(_)) { DetailLevel::Passages } else { proposal.level };
            self.shown.push(ShownNote::new(entry, NoteLevel::new(level, proposal.novelty), &text));
        }
        self.accept(entry, text);
        if let Some(text) = self.texts.pop() {
            self.texts.insert(position.min(self.texts.len()), text);
        }
        EntryBackup { text: old, shown, chars, used_sections }
    }

    /// Undoes [`replace`](Self::replace).
    pub(super) fn restore(&mut self, entry: usize, backup: EntryBackup) {
        let Some(position) = self.texts.iter().position(|(other, _)| *other == entry) else { return };
        match backup.text {
            Some(text) => self.texts[position].1 = text,
            None => {
                self.texts.remove(position);
                self.included.entries[entry] = false;
                self.notes -= usize::from(self.note(entry).is_some());
            }
        }
        self.chars = backup.chars;
        self.used_sections = backup.used_sections;
        self.shown = backup.shown;
    }

    /// Subtracts the characters of a text that was removed.
    fn subtract(&mut self, text: &EntryText) {
        for item in &text.items {
            let others = self.texts.iter().flat_map(|(_, text)| &text.items);
            let is_alone = others.filter(|other| other.section == item.section).count() == 0;
            self.chars -= chars(&item.text) + if is_alone { 0 } else { chars(self.renderer.separator(item.section)) };
            if is_alone && use_section(&mut self.used_sections, item.section) {
                self.used_sections[item.section] = false;
            }
        }
    }

    /// Counts the characters of the accepted texts and one more.
    pub(super) fn chars_with(&self, text: &EntryText) -> usize {
        let mut used = self.used_sections.clone();
        let mut total = self.chars;
        for item in &text.items {
            if use_section(&mut used, item.section) {
                total += chars(self.renderer.separator(item.section));
            }
            total += chars(&item.text);
        }
        total
    }

    /// Whether the notes have so many tokens that no more are added. Names and frame do not count, so that every format
    /// ends with the same note.
    pub(super) fn has_reached_target(&self) -> bool {
        let tokens = || self.texts.iter().map(|(_, text)| text.tokens).sum::<usize>();
        self.limits.target_tokens.is_some_and(|target| tokens() >= target)
    }

    /// Returns the note at `index`; `None` for another entry.
    pub(super) fn note(&self, index: usize) -> Option<&'a NoteEntry> {
        self.report.entries.get(index)?.note()
    }

    /// Whether the entry at `index` is an assessed note, which is shown at a level of detail.
    pub(super) fn is_assessed(&self, index: usize) -> bool {
        self.note(index).is_some_and(|note| note.assessment.is_some())
    }

    /// Whether an entry is left out or cut.
    pub(super) fn is_truncated(&self) -> bool {
        !self.is_complete || self.has_cut || self.report.head.is_limited
    }

    pub(super) fn frame_state(&self, is_truncated: bool) -> FrameState<'_> {
        FrameState {
            notes: self.notes,
            is_truncated,
            is_empty: self.texts.is_empty(),
            is_brief: self.is_brief,
            stats: self.stats.as_ref(),
            omissions: self.omissions,
            tail: &self.tail,
        }
    }

    /// Returns the state of a document with so many notes that leaves something out.
    pub(super) fn truncated_state(&self, notes: usize) -> FrameState<'_> {
        FrameState { notes, is_empty: false, ..self.frame_state(true) }
    }
}

/// Marks a section as used; returns whether it was used before.
fn use_section(used: &mut Vec<bool>, section: usize) -> bool {
    if used.len() <= section {
        used.resize(section + 1, false);
    }
    std::mem::replace(&mut used[section], true)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}
