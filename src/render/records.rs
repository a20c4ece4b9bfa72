//! The records format: one record a line, for the context of a model.

use std::borrow::Cow;

use super::level_text::{LevelText, NoteView};
use super::record_lines::{
    analysis_lines, assessment_line, block_line, change_lines, comparison_lines, edge_line, explanation_lines, fields,
    finding_line, linked_line, match_line, name_line, overview_line, pattern_line, push_body, push_compacted,
    push_match, push_passage, recipe_line, spelling_line, stats_lines, tail_records,
};
use super::{
    EntryText, Frame, FrameState, Included, Renderer, ShownPart, banner_line, insufficient, least_detail, shows_body,
};
use crate::escape::{json_string, quote_value};
use crate::note::SummarySource;
use crate::report::{DetailLevel, Entry, EntryRole, FormatDetail, NoteHandle, NoteLayout, Report};
use crate::tokens::Tokenizer;

/// The meaning of the first letter of a line, explained once, in the primer.
const LETTERS: &str = "H head (how much was found and shown), W warning, N note, M map of content, S summary, E link, \
                       B text up to B-END (at= lines of the file, in= headings), D detail, C command";

pub(super) struct Records<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
}

impl Renderer for Records<'_> {
    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let (head, layout) = (&self.report.head, self.report.head.layout);
        let mut text = "H qipu=1 records=1".to_owned();
        if let Some(store) = &head.store {
            text.push_str(&format!(" store={}", quote_value(store)));
        }
        text.push_str(&fields(&head.facts));
        if layout.counts_notes {
            text.push_str(&format!(" notes={} matched={}", shown.notes, head.matched));
        }
        if layout.is_divisible {
            text.push_str(&format!(" truncated={}", shown.is_truncated));
        }
        text.push('\n');
        text.push_str(&banner_line(self.report, layout.has_banner_in_records, "W "));
        text.extend(head.question_match.iter().map(|matched| match_line(matched, shown)));
        text.extend(head.spellings.iter().filter(|_| !shown.is_brief).map(spelling_line));
        let analysis = head.analysis.as_ref().filter(|analysis| !shown.is_brief && analysis.is_more_than_words());
        text.extend(analysis.map(|analysis| analysis_lines(analysis)));
        text.extend(shown.omissions.sentence().map(|sentence| format!("W {sentence}\n")));
        let reason = insufficient(self.report, &shown).filter(|_| shown.stats.is_none());
        text.extend(reason.map(|reason| format!("W insufficient {}\n", json_string(reason))));
        text.extend(shown.stats.map(|stats| stats_lines(stats, shown)));
        Frame(vec![text, tail_records(self.report, shown)])
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let text = match &self.report.entries[index] {
            Entry::Note(entry) => return self.note(NoteView { index, entry, shown_part, included }),
            Entry::Unresolved { from, target, .. } => {
                format!("W unresolved {} from={from}\n", json_string(target))
            }
            Entry::About(text) => format!("D about {text}\nD records {LETTERS}\n"),
            Entry::Command { line, purpose, .. } => {
                format!("C {} {}\n", json_string(line), json_string(purpose))
            }
            Entry::Overview(overview) => overview_line(overview),
            Entry::Recipe(recipe) => recipe_line(recipe),
            Entry::Link(edge, note) => linked_line(edge, note),
            Entry::Tag(tag, count) => format!("D tag name={} count={count}\n", quote_value(tag)),
            Entry::Fact(name, count) => format!("D count name={} count={count}\n", quote_value(name)),
            Entry::Kind(kind, count) => format!("D type name={} count={count}\n", quote_value(kind)),
            Entry::Finding(finding) => finding_line(finding),
            Entry::Row(row) => format!("D {}{}\n", row.kind, fields(&row.fields)),
            Entry::Change(change) => change_lines(change),
            Entry::Comparison(comparison) => comparison_lines(comparison),
            Entry::Pattern(pattern) => pattern_line(pattern),
            Entry::Text(text) => {
                let mut body = String::new();
                push_body("-", text.trim_end_matches('\n'), &mut body);
                body
            }
        };
        EntryText::of(text)
    }

    fn detail(&self, entry: &Entry) -> FormatDetail {
        let is_recent = entry.note().is_some_and(|entry| entry.role == EntryRole::Recent);
        if is_recent { FormatDetail::Name } else { least_detail(entry, self.shows_body()) }
    }
}

impl Records<'_> {
    fn shows_body(&self) -> bool {
        shows_body(self.report, self.report.head.layout.has_body_in_records)
    }

    fn note(&self, view: NoteView<'_>) -> EntryText {
        let (entry, note) = (view.entry, &view.entry.note);
        let path = (self.report.head.layout.note == NoteLayout::Section).then(|| self.report.head.path_of(note));
        let mut text = name_line(entry, path.as_deref(), self.report.head.show.has_revision);
        if entry.role == EntryRole::Recent {
            push_compacted(entry, &mut text);
            return EntryText::of(text);
        }
        if let Some(content) = view.level_text() {
            return self.assessed(view, &content, text);
        }
        let passages = view.passages();
        let body = view.body(entry.shown_blocks.is_none() && self.shows_body());
        let blocks = view.blocks();
        // A summary taken from the text would repeat the text; a summary section is part of no text.
        let summary = if passages.is_some() {
            view.summary_beside_text().map(Cow::Owned)
        } else if body.is_some() || !blocks.is_empty() {
            note.summary_from(SummarySource::Section)
        } else {
            entry.summary()
        };
        let (summary, mut is_cut) = view.as_summary(summary.as_deref());
        if !summary.is_empty() {
            text.push_str(&format!("S {} {summary}\n", note.id));
        }
        text.extend(view.edges().map(edge_line));
        push_compacted(entry, &mut text);
        self.push_fields(note, &mut text);
        if view.shown_part == ShownPart::Whole {
            push_match(entry, &mut text);
        }
        text.extend(blocks.into_iter().map(|block| block_line(block, note)));
        for passage in passages.iter().flatten() {
            push_passage(note.id.as_str(), passage, &mut text);
        }
        if let Some((body, is_body_cut)) = body.filter(|_| passages.is_none()) {
            is_cut |= is_body_cut;
            push_body(note.id.as_str(), &body, &mut text);
        }
        EntryText { is_cut, ..EntryText::of(text) }
    }

    /// Returns the records of an assessed note. `text`: the first of them.
    fn assessed(&self, view: NoteView<'_>, content: &LevelText<'_>, mut text: String) -> EntryText {
        let note = &view.entry.note;
        let mut out = content.empty_entry(self.tokenizer);
        // A text that equals its summary is written on one line.
        let is_summary = content.level <= DetailLevel::Summary || content.text == view.entry.summary_line();
        if is_summary {
            text.push_str(&format!("S {} {}\n", note.id, content.text));
        } else if let Some(summary) = &content.summary {
            text.push_str(&format!("S {} {summary}\n", note.id));
        }
        text.extend(view.edges().map(edge_line));
        push_compacted(view.entry, &mut text);
        text.push_str(&assessment_line(content, note));
        if let Some(novelty) = view.shown_part.novelty().filter(|_| self.report.head.is_explained) {
            text.push_str(&explanation_lines(content.assessment, novelty, out.tokens, note));
        }
        self.push_fields(note, &mut text);
        for (id, _, confidence) in content.origins() {
            text.push_str(&format!("D derived-from id={id} confidence={confidence:.2} from={}\n", note.id));
        }
        for passage in content.passages.iter().flatten() {
            push_passage(note.id.as_str(), passage, &mut text);
        }
        if !is_summary && content.passages.is_none() {
            push_body(note.id.as_str(), &content.text, &mut text);
        }
        out.add(0, text);
        out
    }

    /// Adds the sources and the custom fields of a note.
    fn push_fields(&self, note: &NoteHandle, text: &mut String) {
        // An answer of passages alone has room for nothing else.
        if self.report.head.show.has_sources && !self.report.head.show.has_pages {
            for source in note.sources() {
                text.push_str(&format!("D source url={}", quote_value(&source.url)));
                if let Some(title) = &source.title {
                    text.push_str(&format!(" title={}", json_string(title)));
                }
                if let Some(accessed) = &source.accessed {
                    text.push_str(&format!(" accessed={}", quote_value(accessed)));
                }
                text.push_str(&format!(" from={}\n", note.id));
            }
        }
        if self.report.head.show.has_custom {
            for (key, field) in note.extra_fields().custom {
                let field = json_string(&field.to_line());
                text.push_str(&format!("D custom name={} value={field} from={}\n", quote_value(key), note.id));
            }
        }
    }
}
