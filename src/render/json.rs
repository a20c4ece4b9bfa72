//! The JSON format: one object, a line for each item.

use serde_json::{Map, Value, json};

use super::content::{LevelText, level_text};
use super::json_values::{
    add_match, analysis_object, block_object, change_object, comparison_object, confidence_object, finding_object,
    link_object, note_reference, overview_object, passage_object, pattern_object, recipe_object, row_value,
    stats_fields, ten_thousandths,
};
use super::{
    BANNER, EntryText, Extent, Frame, FrameState, Included, Omissions, Renderer, body_text, insufficient, shows_body,
    summary_text,
};
use crate::escape::{harmless_json, json_string};
use crate::note::NoteId;
use crate::report::{
    Analysis, Assessment, COMPARISON, Detail, Entry, EntryRole, LINKS, Level, NoteEntry, NoteLayout, PATTERNS,
    Presence, Report, SPANNING_TREE, UTILITY_PARTS,
};
use crate::tokens::Tokenizer;

/// The version of the format, raised when a field changes its meaning.
const SCHEMA: u32 = 1;

/// Writes a report as JSON.
pub(super) struct Json<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
    /// Whether the text of notes is written; ids and numbers alone otherwise.
    pub(super) has_content: bool,
}

impl Renderer for Json<'_> {
    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let mut text = format!("{{\"schema\":{SCHEMA}");
        for (name, value) in self.head_fields(shown) {
            text.push_str(&format!(",\"{name}\":{}", harmless_json(value.to_string())));
        }
        let mut parts = Vec::new();
        for list in self.report.layout().lists {
            let is_present = match list.presence {
                Presence::Always => true,
                Presence::WithEdges => self.has_edges(),
                Presence::WithPatterns => self.report.head.has_intent(PATTERNS),
                Presence::WithEntry => false,
            };
            if is_present {
                text.push_str(&format!(",\"{}\":[", list.name));
            }
            parts.push(std::mem::take(&mut text));
            text.push_str(if is_present { "]" } else { "" });
        }
        text.push_str("}\n");
        parts.push(text);
        Frame(parts)
    }

    fn render(&self, index: usize, extent: Extent, included: &Included) -> EntryText {
        let mut out = EntryText::default();
        let (list, value) = match &self.report.entries[index] {
            Entry::Note(entry) => {
                self.note(index, entry, extent, included, &mut out);
                return out;
            }
            Entry::Text(text) => {
                out.add(self.section("text"), json_string(text));
                return out;
            }
            Entry::Comparison(comparison) => {
                let object = harmless_json(comparison_object(comparison).to_string());
                out.add(self.section(COMPARISON), format!(",\"{COMPARISON}\":{object}"));
                return out;
            }
            Entry::Unresolved { from, target, .. } => ("unresolved", json!({"from": from.as_str(), "target": target})),
            Entry::About(text) => ("about", json!(text)),
            Entry::Command { line, purpose } => ("commands", json!({"command": line, "purpose": purpose})),
            Entry::Overview(overview) => ("overview", overview_object(overview)),
            Entry::Recipe(recipe) => ("recipes", recipe_object(recipe)),
            Entry::Link { edge, title } => {
                let mut value = link_object(edge);
                value["title"] = json!(title);
                (LINKS, value)
            }
            Entry::Tag { tag, count } => ("tags", json!({"tag": tag, "count": count})),
            Entry::Fact { name, count } => ("counts", json!({"name": name, "count": count})),
            Entry::Kind { kind, count } => ("types", json!({"type": kind, "count": count})),
            Entry::Finding(finding) => ("findings", finding_object(finding)),
            Entry::Row(row) => {
                let fields = row.fields.iter().map(|(name, value)| ((*name).to_owned(), row_value(value)));
                (row.list, Value::Object(fields.collect()))
            }
            Entry::Change(change) => ("changes", change_object(change)),
            Entry::Pattern(pattern) => (PATTERNS, pattern_object(pattern)),
        };
        self.add(list, value, &mut out);
        out
    }

    fn detail(&self, entry: &Entry) -> Detail {
        match entry.note() {
            Some(entry) if entry.assessment.is_some() => Detail::Name,
            Some(entry) if entry.role == EntryRole::Selected && self.shows_body() => Detail::Body,
            Some(_) => Detail::Summary,
            None => Detail::Name,
        }
    }
}

impl Json<'_> {
    /// Returns the members of the object before the lists.
    fn head_fields(&self, shown: FrameState<'_>) -> Vec<(&'static str, Value)> {
        let (head, layout) = (&self.report.head, self.report.layout());
        let mut fields: Vec<(&'static str, Value)> = Vec::new();
        fields.extend(head.store.as_ref().map(|store| ("store", json!(store))));
        fields.extend(head.kind.facts().iter().map(|(name, value)| (*name, row_value(value))));
        fields.extend(layout.counts_notes.then(|| ("matched", json!(head.matched))));
        fields.extend(layout.is_divisible.then(|| ("truncated", json!(shown.is_truncated))));
        fields.extend(shown.stats.into_iter().flat_map(|stats| stats_fields(stats, shown.is_brief)));
        if let Some(reason) = insufficient(self.report, &shown).filter(|_| shown.stats.is_none()) {
            fields.push(("insufficient", json!({"reason": reason})));
        }
        if !head.spellings.is_empty() && !shown.is_brief {
            let spellings = head.spellings.iter().map(|s| json!({"word": s.word, "shown": s.shown}));
            fields.push(("spellings", spellings.collect()));
        }
        if head.banner == Some(true) && self.has_content {
            fields.push(("banner", json!(BANNER)));
        }
        if shown.omissions != Omissions::default() {
            fields.push(("no_room", json!(shown.omissions.names())));
        }
        let is_shown = |analysis: &&Analysis| !shown.is_brief && (self.has_content || analysis.is_more_than_words());
        let analysis = head.analysis.as_deref().filter(is_shown);
        fields.extend(analysis.map(|analysis| ("analysis", analysis_object(analysis))));
        fields
    }

    fn shows_body(&self) -> bool {
        shows_body(self.report, self.report.layout().has_body_in_json)
    }

    /// Whether a note has an edge.
    fn has_edges(&self) -> bool {
        self.report.entries.iter().filter_map(Entry::note).any(|entry| !entry.edges.is_empty())
    }

    /// Returns the index of the list with a name. What has no list of its own goes into the last one.
    fn section(&self, name: &str) -> usize {
        let lists = self.report.layout().lists;
        lists.iter().position(|list| list.name == name).unwrap_or(lists.len() - 1)
    }

    fn add(&self, list: &str, value: Value, out: &mut EntryText) {
        out.add(self.section(list), harmless_json(value.to_string()));
    }

    /// Adds a note, its edges to entries before it, and its edge of the spanning tree.
    fn note(&self, index: usize, entry: &NoteEntry, extent: Extent, included: &Included, out: &mut EntryText) {
        let object = match &entry.assessment {
            Some(assessment) => {
                let content = level_text(index, entry, assessment, extent, included);
                out.record_level(&content, self.tokenizer);
                let assessed = (&**assessment, &content);
                if self.has_content {
                    self.assessed_note(entry, assessed, extent, out.tokens)
                } else {
                    assessed_reference(entry, assessed, extent, out.tokens)
                }
            }
            None if !self.has_content => note_reference(entry),
            None => self.plain_note(index, entry, extent, included, out),
        };
        let list = match entry.role {
            EntryRole::Map => "mocs",
            EntryRole::LastJournal => "journals",
            EntryRole::Decision => "decisions",
            EntryRole::Selected | EntryRole::Recent => "notes",
        };
        self.add(list, object.into(), out);
        for edge in entry.edges.iter().filter(|edge| included.has(edge.other)) {
            self.add(LINKS, link_object(edge), out);
        }
        let has_tree = self.report.layout().lists.iter().any(|list| list.name == SPANNING_TREE);
        let parent = entry.parent.and_then(|parent| self.report.entries.get(parent)?.note());
        if let Some(parent) = parent.filter(|_| has_tree) {
            let from = parent.note.id.as_str();
            let edge = json!({"from": from, "to": entry.note.id.as_str(), "hop": entry.hop});
            self.add(SPANNING_TREE, edge, out);
        }
    }

    /// Returns an assessed note with its text and its assessment.
    fn assessed_note(
        &self,
        entry: &NoteEntry,
        (assessment, content): (&Assessment, &LevelText),
        extent: Extent,
        tokens: usize,
    ) -> Map<String, Value> {
        let note = &entry.note;
        let head = &self.report.head;
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("id", json!(note.id.as_str()));
        add("title", json!(note.title()));
        add("type", json!(note.list_fields().kind));
        add("tags", json!(note.relations().tags));
        add("level", json!(content.level.name()));
        match &content.passages {
            Some(passages) => add("passages", passages.iter().map(passage_object).collect()),
            None => add("content", json!(content.text)),
        };
        let is_short = head.show.has_passages && !head.is_explained;
        let overall = || json!({"overall": assessment.confidence.overall});
        add("confidence", if is_short { overall() } else { confidence_object(assessment) });
        if content.level == Level::Essence {
            add("confidence_label", json!(assessment.confidence.label()));
        }
        add("source_trust", json!(assessment.trust));
        add("relevance_score", json!(assessment.relevance));
        if let (Some(utility), Some(novelty)) = (assessment.utility, extent.novelty()) {
            let utility = utility.with_novelty(novelty);
            let parts = UTILITY_PARTS.iter().zip(utility.parts).map(|(name, part)| (*name, part));
            let all = [("total", utility.total())].into_iter().chain(parts);
            let all = all.map(|(name, part)| (name.to_owned(), json!(ten_thousandths(part))));
            add("utility", Value::Object(all.collect()));
        }
        add_counts((assessment, content), tokens, &mut object);
        if content.level == Level::Detailed && !assessment.derived_from.is_empty() {
            let origins = assessment.derived_from.iter();
            let origin = |(id, title, confidence): &(NoteId, String, f64)| json!({"id": id.as_str(), "title": title, "confidence": confidence});
            object.insert("derived_from".to_owned(), origins.map(origin).collect());
        }
        self.add_fields(entry, &mut object);
        object
    }

    /// Adds the fields that all notes have.
    fn add_fields(&self, entry: &NoteEntry, object: &mut Map<String, Value>) {
        let note = &entry.note;
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        if self.report.head.show.has_sources {
            let sources = note
                .sources()
                .iter()
                .map(|source| json!({"url": source.url, "title": source.title, "accessed": source.accessed}));
            add("sources", sources.collect());
        }
        if self.report.head.show.has_custom {
            let fields = note.extra_fields().custom.iter().map(|(key, value)| (key.clone(), value.to_json()));
            add("custom", Value::Object(fields.collect()));
        }
        add("path", json!(self.report.head.path_from_current_dir(&note.path)));
        add("created", json!(note.list_fields().created_as_written().as_ref().map(|stamp| stamp.as_str())));
        add("updated", json!(note.list_fields().updated_as_written().as_ref().map(|stamp| stamp.as_str())));
        add("value", json!(note.value_or_default()));
        if let Some(status) = entry.retired.and_then(|retired| retired.status) {
            add("status", json!(status));
        }
        if let Some(day) = entry.retired.and_then(|retired| retired.expired) {
            add("expired", json!(day.to_string()));
        }
        if !entry.compacted.is_empty() {
            add("compacts", entry.compacted.iter().map(|id| json!(id.as_str())).collect());
        }
    }

    /// Returns a note without an assessment.
    fn plain_note(
        &self,
        index: usize,
        entry: &NoteEntry,
        extent: Extent,
        included: &Included,
        out: &mut EntryText,
    ) -> Map<String, Value> {
        let note = &entry.note;
        let passages = included.passages(index, entry, extent);
        // The excerpt of a journal replaces its text, so that it is left out beside it.
        let has_text = (self.shows_body() || entry.shown_blocks.is_some()) && !matches!(extent, Extent::Summary(_));
        let summary = if has_text { note.summary().map(Into::into) } else { entry.summary() };
        let (summary, is_summary_cut) = summary_text(summary.as_deref(), extent);
        out.is_cut = is_summary_cut;
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("id", json!(note.id.as_str()));
        add("title", json!(note.title()));
        add("type", json!(note.list_fields().kind));
        add("tags", json!(note.relations().tags));
        if passages.is_none() {
            add("summary", json!(summary));
        }
        if let Some(passages) = &passages {
            add("passages", passages.iter().map(passage_object).collect());
        } else if entry.shown_blocks.is_some() {
            if extent == Extent::Whole {
                add("blocks", included.blocks(entry).into_iter().map(block_object).collect());
            }
        } else if let Some((body, is_body_cut)) = body_text(entry, extent, self.shows_body()) {
            out.is_cut |= is_body_cut;
            add("content", json!(body));
        }
        self.add_fields(entry, &mut object);
        if entry.match_info.is_none() && self.report.layout().note == NoteLayout::Row {
            object.insert("relevance".to_owned(), Value::Null);
        }
        add_match(entry, extent == Extent::Whole, &mut object);
        object
    }
}

/// Returns an assessed note without its text.
fn assessed_reference(
    entry: &NoteEntry,
    (assessment, content): (&Assessment, &LevelText),
    extent: Extent,
    tokens: usize,
) -> Map<String, Value> {
    let mut object = note_reference(entry);
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("level", json!(content.level.name()));
    add("confidence", json!({"overall": assessment.confidence.overall}));
    add("source_trust", json!(assessment.trust));
    add("relevance_score", json!(assessment.relevance));
    if let Some(utility) = assessment.utility {
        let utility = extent.novelty().map_or(utility, |novelty| utility.with_novelty(novelty));
        add("utility", json!({"total": ten_thousandths(utility.total())}));
    }
    add_counts((assessment, content), tokens, &mut object);
    object
}

/// Adds the counts of an assessed note.
fn add_counts((assessment, content): (&Assessment, &LevelText), tokens: usize, object: &mut Map<String, Value>) {
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("token_count", json!(tokens));
    add("has_derivation", json!(!assessment.derived_from.is_empty()));
    add("has_more_detail", json!(content.has_more));
    add("contradiction_count", json!(assessment.contradictions));
}
