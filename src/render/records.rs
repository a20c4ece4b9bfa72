//! The records format: one record a line, for the context of a model.

use super::content::{has_unusual_confidence, level_text};
use super::record_lines::{
    analysis_lines, assessment_line, block_line, change_lines, comparison_lines, edge_line, explanation_lines, fields,
    finding_line, name_line, overview_line, pattern_line, push_body, push_compacted, push_match, push_passage,
    recipe_line, row_line, spelling_line, stats_lines,
};
use super::{
    BANNER, EntryText, Extent, Frame, FrameState, Included, Renderer, body_text, insufficient, shows_body, summary_text,
};
use crate::escape::{json_string, value};
use crate::note::SummarySource;
use crate::report::NoteHandle;
use crate::report::{Assessment, Detail, Entry, EntryRole, Level, NoteEntry, Report};
use crate::tokens::Tokenizer;

/// The meaning of the first letter of a line, explained once, in the primer.
const LETTERS: &str = "H head (how much was found and shown), W warning, N note, M map of content, S summary, E link, \
                       B text up to B-END (at= lines of the file, in= headings), D detail, C command";

/// Writes a report as records.
pub(super) struct Records<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
}

impl Renderer for Records<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let (head, layout) = (&self.report.head, self.report.layout());
        let mut text = String::from("H qipu=1 records=1");
        if let Some(store) = &head.store {
            text.push_str(&format!(" store={}", value(store)));
        }
        text.push_str(&fields(&head.kind.facts()));
        if layout.counts_notes {
            text.push_str(&format!(" notes={} matched={}", shown.notes, head.matched));
        }
        if layout.is_divisible {
            text.push_str(&format!(" truncated={}", shown.is_truncated));
        }
        text.push('\n');
        text.extend(head.spellings.iter().filter(|_| !shown.is_brief).map(spelling_line));
        let analysis = head.analysis.as_ref().filter(|analysis| !shown.is_brief && analysis.is_more_than_words());
        text.extend(analysis.map(|analysis| analysis_lines(analysis)));
        text.extend(shown.omissions.sentence().map(|sentence| format!("W {sentence}\n")));
        let reason = insufficient(self.report, &shown).filter(|_| shown.stats.is_none());
        text.extend(reason.map(|reason| format!("W insufficient {}\n", json_string(reason))));
        text.extend(shown.stats.map(|stats| stats_lines(stats, shown)));
        if head.banner.unwrap_or(layout.has_banner_in_records) {
            text.push_str(&format!("W {BANNER}\n"));
        }
        Frame(vec![text, String::new()])
    }

    fn render(&self, index: usize, extent: Extent, included: &Included) -> EntryText {
        let mut out = EntryText::default();
        let text = match &self.report.entries[index] {
            Entry::Note(entry) => self.note(index, entry, extent, included, &mut out),
            Entry::Unresolved { from, target, .. } => {
                format!("W unresolved {} from={from}\n", json_string(target))
            }
            Entry::About(text) => format!("D about {text}\nD records {LETTERS}\n"),
            Entry::Command { line, purpose } => {
                format!("C {} {}\n", json_string(line), json_string(purpose))
            }
            Entry::Overview(overview) => overview_line(overview),
            Entry::Recipe(recipe) => recipe_line(recipe),
            Entry::Link { edge, .. } => edge_line(edge),
            Entry::Tag { tag, count } => format!("D tag name={} count={count}\n", value(tag)),
            Entry::Fact { name, count } => format!("D count name={} count={count}\n", value(name)),
            Entry::Kind { kind, count } => format!("D type name={} count={count}\n", value(kind)),
            Entry::Finding(finding) => finding_line(finding),
            Entry::Row(row) => row_line(row),
            Entry::Change(change) => change_lines(change),
            Entry::Comparison(comparison) => comparison_lines(comparison),
            Entry::Pattern(pattern) => pattern_line(pattern),
            Entry::Text(text) => {
                let mut body = String::new();
                push_body("-", text.trim_end_matches('\n'), &mut body);
                body
            }
        };
        out.add(0, text);
        out
    }

    fn detail(&self, entry: &Entry) -> Detail {
        match entry.note() {
            Some(entry) if entry.assessment.is_some() || entry.role == EntryRole::Recent => Detail::Name,
            Some(entry) if entry.role == EntryRole::Selected && self.shows_body() => Detail::Body,
            Some(_) => Detail::Summary,
            None => Detail::Name,
        }
    }
}

impl Records<'_> {
    fn shows_body(&self) -> bool {
        shows_body(self.report, self.report.layout().has_body_in_records)
    }

    /// Returns the records of a note.
    fn note(
        &self,
        index: usize,
        entry: &NoteEntry,
        extent: Extent,
        included: &Included,
        out: &mut EntryText,
    ) -> String {
        let note = &entry.note;
        let mut text = name_line(entry);
        if entry.role == EntryRole::Recent {
            push_compacted(entry, &mut text);
            return text;
        }
        if let Some(assessment) = &entry.assessment {
            self.push_assessed(entry, assessment, (index, extent, included), out, &mut text);
            return text;
        }
        let passages = included.passages(index, entry, extent);
        let body = body_text(entry, extent, entry.shown_blocks.is_none() && self.shows_body());
        let blocks = if extent == Extent::Whole { included.blocks(entry) } else { Vec::new() };
        // A summary taken from the text would repeat the text; a summary section is part of no text.
        let summary = if body.is_some() || !blocks.is_empty() {
            note.summary_from(SummarySource::Section).map(Into::into)
        } else {
            entry.summary()
        };
        let (summary, is_summary_cut) = summary_text(summary.as_deref(), extent);
        out.is_cut = is_summary_cut;
        if !summary.is_empty() {
            text.push_str(&format!("S {} {summary}\n", note.id));
        }
        push_edges(entry, included, &mut text);
        push_compacted(entry, &mut text);
        self.push_fields(note, &mut text);
        if extent == Extent::Whole {
            push_match(entry, &mut text);
        }
        text.extend(blocks.into_iter().map(|block| block_line(block, note)));
        for passage in passages.iter().flatten() {
            push_passage(note.id.as_str(), passage, &mut text);
        }
        if let Some((body, is_body_cut)) = body.filter(|_| passages.is_none()) {
            out.is_cut |= is_body_cut;
            push_body(note.id.as_str(), &body, &mut text);
        }
        text
    }

    /// Adds the records of an assessed note.
    fn push_assessed(
        &self,
        entry: &NoteEntry,
        assessment: &Assessment,
        (index, extent, included): (usize, Extent, &Included),
        out: &mut EntryText,
        text: &mut String,
    ) {
        let note = &entry.note;
        let content = level_text(index, entry, assessment, extent, included);
        out.record_level(&content, self.tokenizer);
        // A text that equals its summary is written on one line.
        let is_summary = content.level <= Level::Summary || content.text == entry.summary_line();
        if is_summary {
            text.push_str(&format!("S {} {}\n", note.id, content.text));
        }
        push_edges(entry, included, text);
        push_compacted(entry, text);
        if !self.report.head.show.has_passages || has_unusual_confidence(assessment, self.report) {
            text.push_str(&assessment_line(assessment, &content, note));
        }
        if let Some(novelty) = extent.novelty().filter(|_| self.report.head.is_explained) {
            text.push_str(&explanation_lines(assessment, novelty, out.tokens, note));
        }
        self.push_fields(note, text);
        if content.level == Level::Detailed {
            for (id, _, confidence) in &assessment.derived_from {
                text.push_str(&format!("D derived-from id={id} confidence={confidence:.2} from={}\n", note.id));
            }
        }
        for passage in content.passages.iter().flatten() {
            push_passage(note.id.as_str(), passage, text);
        }
        if !is_summary && content.passages.is_none() {
            push_body(note.id.as_str(), &content.text, text);
        }
    }

    /// Adds the sources and the custom fields of a note.
    fn push_fields(&self, note: &NoteHandle, text: &mut String) {
        if self.report.head.show.has_sources {
            for source in note.sources() {
                text.push_str(&format!("D source url={}", value(&source.url)));
                if let Some(title) = &source.title {
                    text.push_str(&format!(" title={}", json_string(title)));
                }
                if let Some(accessed) = &source.accessed {
                    text.push_str(&format!(" accessed={}", value(accessed)));
                }
                text.push_str(&format!(" from={}\n", note.id));
            }
        }
        if self.report.head.show.has_custom {
            for (key, field) in note.extra_fields().custom {
                let field = json_string(&field.to_line());
                text.push_str(&format!("D custom name={} value={field} from={}\n", value(key), note.id));
            }
        }
    }
}

/// Adds the edges of a note to included entries before it.
fn push_edges(entry: &NoteEntry, included: &Included, text: &mut String) {
    for edge in entry.edges.iter().filter(|edge| included.has(edge.other)) {
        text.push_str(&edge_line(edge));
    }
}
