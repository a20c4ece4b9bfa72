//! The JSON format: one object, a line for each item.

use serde_json::{Value, json};

use super::json_values::{
    add_compacted, add_match, also_field, analysis_object, block_object, comparison_object, confidence_object,
    linked_object, match_object, named_note, overview_object, passage_object, rounded, row_value, stats_fields,
};
use super::level_text::{LevelText, NoteView, joined_text};
use super::{
    BANNER, CUT_MARK, EntryText, Frame, FrameState, Included, Renderer, ShownPart, insufficient, least_detail,
    shows_body,
};
use crate::escape::one_line;
use crate::escape::{escape_json, json_string};
use crate::note::NoteId;
use crate::report::{
    COMPARISON, DetailLevel, Entry, EntryRole, FormatDetail, LINKS, NoteEntry, NoteLayout, PATTERNS, Report,
    SPANNING_TREE, UTILITY_PARTS,
};
use crate::tokens::Tokenizer;

/// The version of the format, raised when a field changes its meaning.
const SCHEMA: u32 = 1;
/// The most characters of a summary beside passages that is none of them.
const MAX_SUMMARY_CHARS: usize = 240;

/// Tells whether bytes are an answer of a kind.
pub(super) fn has_mode(bytes: &[u8], mode: &str) -> bool {
    serde_json::from_slice(bytes).is_ok_and(|answer: Value| answer["mode"] == mode)
}

pub(super) struct Json<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
}

impl Renderer for Json<'_> {
    fn separator(&self, _section: usize) -> &'static str {
        ",\n"
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let layout = self.report.head.layout;
        let banner = if self.report.head.banner == Some(true) {
            format!("\"banner\":{},", json!(BANNER))
        } else {
            String::new()
        };
        let mut text = format!("{{{banner}\"schema\":{SCHEMA}");
        for (name, value) in self.head_fields(shown) {
            text.push_str(&format!(",\"{name}\":{}", escape_json(value.to_string())));
        }
        let mut parts = Vec::new();
        for list in layout.lists {
            let is_optional = layout.has_optional_lists;
            let is_present = !is_optional
                || match *list {
                    LINKS => self.report.entries.iter().filter_map(Entry::note).any(|entry| !entry.edges.is_empty()),
                    PATTERNS => {
                        self.report.head.analysis.as_ref().is_some_and(|analysis| analysis.intents.contains(list))
                    }
                    // Its entry writes the key too, since the value is no array.
                    COMPARISON => false,
                    _ => true,
                };
            if is_present {
                text.push_str(&format!(",\"{list}\":["));
            }
            parts.push(std::mem::take(&mut text));
            text.push_str(if is_present { "]" } else { "" });
        }
        text.push_str("}\n");
        parts.push(text);
        Frame(parts)
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let mut out = EntryText::default();
        let (list, value) = match &self.report.entries[index] {
            Entry::Note(entry) => return self.note(NoteView { index, entry, shown_part, included }),
            Entry::Text(text) => {
                out.add(self.section("text"), json_string(text));
                return out;
            }
            Entry::Comparison(comparison) => {
                let object = escape_json(comparison_object(comparison).to_string());
                out.add(self.section(COMPARISON), format!(",\"{COMPARISON}\":{object}"));
                return out;
            }
            Entry::Unresolved { from, target, .. } => ("unresolved", json!({"from": from, "target": target})),
            Entry::About(text) => ("about", json!(text)),
            Entry::Command { line, purpose, .. } => ("commands", json!({"command": line, "purpose": purpose})),
            Entry::Overview(overview) => ("overview", overview_object(overview)),
            Entry::Recipe(recipe) => ("recipes", json!(recipe)),
            Entry::Link(edge, note) => (LINKS, linked_object(edge, note)),
            Entry::Tag(tag, count) => ("tags", json!({"tag": tag, "count": count})),
            Entry::Fact(name, count) => ("counts", json!({"name": name, "count": count})),
            Entry::Kind(kind, count) => ("types", json!({"type": kind, "count": count})),
            Entry::Finding(finding) => ("findings", json!(finding)),
            Entry::Row(row) => {
                let fields = row.fields.iter().map(|(name, value)| ((*name).to_owned(), row_value(value)));
                (row.list, Value::Object(fields.collect()))
            }
            Entry::Change(change) => ("changes", json!(change)),
            Entry::Pattern(pattern) => (PATTERNS, json!(pattern)),
        };
        self.add(list, value, &mut out);
        out
    }

    fn detail(&self, entry: &Entry) -> FormatDetail {
        least_detail(entry, self.shows_body())
    }
}

impl Json<'_> {
    /// Returns the members of the object before the lists.
    fn head_fields(&self, shown: FrameState<'_>) -> Vec<(&'static str, Value)> {
        let (head, layout) = (&self.report.head, self.report.head.layout);
        let mut fields: Vec<(&'static str, Value)> = Vec::new();
        fields.extend(head.store.as_ref().map(|store| ("store", json!(store))));
        fields.extend(head.facts.iter().map(|(name, value)| (*name, row_value(value))));
        fields.extend(layout.counts_notes.then(|| ("matched", json!(head.matched))));
        fields.extend(layout.is_divisible.then(|| ("truncated", json!(shown.is_truncated))));
        fields.extend(shown.stats.into_iter().flat_map(|stats| stats_fields(stats, shown.is_brief)));
        if let Some(reason) = insufficient(self.report, &shown).filter(|_| shown.stats.is_none()) {
            fields.push(("insufficient", json!({"reason": reason})));
        }
        if let Some(matched) = &head.question_match {
            fields.push(("match", match_object(matched, shown)));
        }
        fields.extend(also_field(self.report, shown.tail));
        fields.extend(shown.tail.more.filter(|_| !shown.is_brief).map(|after| ("more", json!({"after": after}))));
        if !head.spellings.is_empty() && !shown.is_brief {
            fields.push(("spellings", json!(head.spellings)));
        }
        if !shown.omissions.names().is_empty() {
            fields.push(("no_room", json!(shown.omissions.names())));
        }
        fields.extend(shown.omissions.some_patterns().map(|count| ("patterns_without_room", json!(count))));
        let analysis = head.analysis.as_deref().filter(|_| !shown.is_brief);
        fields.extend(analysis.map(|analysis| ("analysis", analysis_object(analysis))));
        fields
    }

    fn shows_body(&self) -> bool {
        shows_body(self.report, self.report.head.layout.has_body_in_json)
    }

    /// Returns the index of the list with a name. What has no list of its own goes into the last one.
    fn section(&self, name: &str) -> usize {
        let lists = self.report.head.layout.lists;
        lists.iter().position(|list| *list == name).unwrap_or(lists.len() - 1)
    }

    fn add(&self, list: &str, value: Value, out: &mut EntryText) {
        out.add(self.section(list), escape_json(value.to_string()));
    }

    /// Returns a note, its edges to entries before it, and its edge of the spanning tree.
    fn note(&self, view: NoteView<'_>) -> EntryText {
        let entry = view.entry;
        let (object, mut out) = match view.level_text() {
            Some(content) => {
                let out = content.empty_entry(self.tokenizer);
                (self.assessed_note(view, &content, out.tokens), out)
            }
            None => self.plain_note(view),
        };
        let list = match entry.role {
            EntryRole::Map => "mocs",
            EntryRole::LastJournal => "journals",
            EntryRole::Decision => "decisions",
            EntryRole::Selected | EntryRole::Recent | EntryRole::Linked | EntryRole::Saved | EntryRole::Shown => {
                "notes"
            }
        };
        self.add(list, object, &mut out);
        for edge in view.edges() {
            self.add(LINKS, json!(edge), &mut out);
        }
        let has_tree = self.report.head.layout.lists.contains(&SPANNING_TREE);
        let parent = entry.parent.and_then(|parent| self.report.entries.get(parent)?.note());
        if let Some(parent) = parent.filter(|_| has_tree) {
            let edge = json!({"from": parent.note.id, "to": entry.note.id, "hop": entry.hop});
            self.add(SPANNING_TREE, edge, &mut out);
        }
        out
    }

    fn assessed_note(&self, view: NoteView<'_>, content: &LevelText<'_>, tokens: usize) -> Value {
        let (head, assessment) = (&self.report.head, content.assessment);
        let mut object = named_note(view.entry);
        object["path"] = head.path_of(&view.entry.note).into();
        object["level"] = content.level.name().into();
        if head.show.has_passages {
            let has_passages = content.passages.is_some();
            object["summary"] = if has_passages { beside_passages(view) } else { view.summary().0 }.into();
        }
        object["content"] = json!(content.text);
        if let Some(passages) = &content.passages {
            object["passages"] = passages.iter().map(passage_object).collect();
        }
        let is_short = head.show.has_passages && !head.is_explained;
        let overall = json!({"overall": assessment.confidence.overall});
        object["confidence"] = if is_short { overall } else { confidence_object(assessment) };
        if content.level == DetailLevel::Essence {
            object["confidence_label"] = assessment.confidence.label().into();
        }
        object["source_trust"] = json!(assessment.trust);
        if head.is_explained {
            object["trust_basis"] = assessment.trust_basis.name().into();
            object["unsupported"] = json!(assessment.unsupported);
        }
        object["relevance_score"] = json!(assessment.relevance);
        if let Some((utility, novelty)) = assessment.utility.zip(view.shown_part.novelty()) {
            let utility = utility.with_novelty(novelty);
            object["utility"] = json!({"total": rounded(utility.total(), 4)});
            for (name, part) in UTILITY_PARTS.iter().zip(utility.parts) {
                object["utility"][name] = json!(rounded(part, 4));
            }
        }
        object["token_count"] = json!(tokens);
        object["has_derivation"] = json!(!assessment.derived_from.is_empty());
        object["has_more_detail"] = json!(content.has_more);
        object["contradiction_count"] = json!(assessment.contradictions);
        let origin = |(id, title, confidence): &(NoteId, String, f64)| json!({"id": id, "title": title, "confidence": confidence});
        if !content.origins().is_empty() {
            object["derived_from"] = content.origins().iter().map(origin).collect();
        }
        self.add_fields(view.entry, &mut object);
        object
    }

    /// Adds the fields that all notes have.
    fn add_fields(&self, entry: &NoteEntry, object: &mut Value) {
        let (note, head) = (&entry.note, &self.report.head);
        if head.show.has_sources {
            let sources = note.sources().iter();
            object["sources"] = sources
                .map(|source| json!({"url": source.url, "title": source.title, "accessed": source.accessed}))
                .collect();
        }
        if head.show.has_custom {
            let fields = note.extra_fields().custom.iter().map(|(key, value)| (key.clone(), value.to_json()));
            object["custom"] = Value::Object(fields.collect());
        }
        let fields = note.list_fields();
        object["path"] = head.path_of(note).into();
        object["created"] = json!(fields.created_as_written().as_ref().map(|stamp| stamp.as_str()));
        object["updated"] = json!(fields.updated_as_written().as_ref().map(|stamp| stamp.as_str()));
        if let Some(day) = note.journal_day().or_else(|| fields.day()) {
            object["date"] = day.to_string().into();
        }
        object["value"] = json!(note.value_or_default());
        if note.is_commit() {
            object["release"] = json!(note.field("release").map(|release| one_line(&release.to_line())));
            if head.show.has_custom {
                object["files"] = note.code_refs().iter().map(|code| one_line(&code.path)).collect();
            }
        }
        if let Some(revision) = head.show.has_revision.then(|| entry.revision()).flatten() {
            object["revision"] = revision.to_string().into();
        }
        if let Some(status) = entry.status() {
            object["status"] = json!(status);
        }
        if let Some(day) = entry.state().retired.and_then(|retired| retired.expired) {
            object["expired"] = day.to_string().into();
        }
        if entry.state().has_conflict {
            object["conflict"] = true.into();
        }
        if let Some(mark) = entry.due_mark() {
            object["due"] = mark.into();
        }
        if let Some(id) = &entry.state().superseded_by {
            object["superseded_by"] = json!(id);
        }
        if !entry.state().supersedes.is_empty() {
            object["supersedes"] = json!(entry.state().supersedes);
        }
        add_compacted(entry, object);
    }

    /// Returns a note without an assessment, and an entry without items that says whether its text lacks its end.
    fn plain_note(&self, view: NoteView<'_>) -> (Value, EntryText) {
        let entry = view.entry;
        let passages = view.passages();
        let (summary, mut is_cut) = view.summary();
        let mut object = named_note(entry);
        object["summary"] = if passages.is_some() { beside_passages(view) } else { summary }.into();
        if let Some(passages) = &passages {
            object["content"] = joined_text(passages).into();
            object["passages"] = passages.iter().map(passage_object).collect();
        } else if entry.shown_blocks.is_some() {
            if view.shown_part == ShownPart::Whole {
                object["blocks"] = view.blocks().into_iter().map(block_object).collect();
            }
        } else if let Some((body, is_body_cut)) = view.body(self.shows_body()) {
            is_cut |= is_body_cut;
            object["content"] = body.into();
        }
        self.add_fields(entry, &mut object);
        if entry.match_info.is_none() && self.report.head.layout.note == NoteLayout::Row {
            object["relevance"] = Value::Null;
        }
        add_match(entry, view.shown_part == ShownPart::Whole, &mut object);
        (object, EntryText { is_cut, ..EntryText::default() })
    }
}

/// Returns the summary beside passages: whole if it is one of them, else its beginning. It may be a long paragraph, without
/// whose room no passage would fit.
fn beside_passages(view: NoteView<'_>) -> String {
    let shortened = || {
        let summary = view.summary().0;
        match summary.char_indices().nth(MAX_SUMMARY_CHARS) {
            Some((end, _)) => format!("{}{CUT_MARK}", summary.get(..end).unwrap_or_default()),
            None => summary,
        }
    };
    view.summary_beside_text().unwrap_or_else(shortened)
}
