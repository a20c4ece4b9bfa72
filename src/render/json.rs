//! The JSON format: one object, a line for each item.

use serde_json::{Map, Value, json};

use super::content::content;
use super::{
    BANNER, EntryText, Extent, Frame, FrameState, Included, Omissions, Renderer, body_text, insufficient, shows_body,
    summary_text,
};
use crate::escape::{harmless_json, json_string};
use crate::note::{Note, NoteId};
use crate::report::{
    Analysis, Assessment, BlockEntry, ChangeEntry, ComparisonEntry, DIMENSIONS, Detail, EdgeEntry, Entry, EntryRole,
    JournalTraits, Level, MatchInfo, NoteEntry, Passage, Report, ReportKind, RowValue, SelectionStats, SideEntry,
    UTILITY_PARTS,
};
use crate::tokens::Tokenizer;

/// The version of the shapes; raised when a field changes its meaning.
const SCHEMA: u32 = 1;

/// Sections that are there only where a question asks for them.
const PATTERNS: &str = "patterns";
const COMPARISON: &str = "comparison";
const LINKS: &str = "links";

/// Renders a report as JSON.
pub(super) struct Json<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
    /// Whether it is told what notes say, and not only which notes with which numbers.
    pub(super) says_content: bool,
}

impl Renderer for Json<'_> {
    fn separator(&self) -> &'static str {
        ",\n"
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let head = &self.report.head;
        let mut text = format!("{{\"schema\":{SCHEMA}");
        let mut say = |name: &str, value: Value| {
            text.push_str(&format!(",\"{name}\":{}", harmless_json(value.to_string())));
        };
        if let Some(store) = &head.store {
            say("store", json!(store));
        }
        for (name, value) in facts(&head.mode) {
            say(name, value);
        }
        if self.report.is_divisible() {
            if head.mode != ReportKind::Eval {
                say("matched", json!(head.matched));
            }
            say("truncated", json!(shown.is_truncated));
        }
        for (name, value) in shown.account.into_iter().flat_map(|account| account_facts(account, shown.is_brief)) {
            say(name, value);
        }
        if let Some(reason) = insufficient(self.report, &shown).filter(|_| shown.account.is_none()) {
            say("insufficient", json!({"reason": reason}));
        }
        if !head.spellings.is_empty() && !shown.is_brief {
            let spellings = head.spellings.iter().map(|s| json!({"word": s.word, "shown": s.shown}));
            say("spellings", spellings.collect());
        }
        if head.banner == Some(true) && self.says_content {
            say("banner", json!(BANNER));
        }
        if shown.lacks != Omissions::default() {
            say("no_room", json!(shown.lacks.names()));
        }
        let is_told = |analysis: &Analysis| !shown.is_brief && (self.says_content || analysis.is_more_than_words());
        if let Some(analysis) = head.analysis.as_deref().filter(|analysis| is_told(analysis)) {
            say("analysis", analysis_object(analysis));
        }
        let mut parts = Vec::new();
        for name in sections(&head.mode) {
            match *name {
                // One object, not a list: it brings its name along.
                COMPARISON => parts.push(std::mem::take(&mut text)),
                PATTERNS if !head.intends(PATTERNS) => parts.push(std::mem::take(&mut text)),
                LINKS if head.mode == ReportKind::Context && !self.has_links() => parts.push(std::mem::take(&mut text)),
                name => {
                    text.push_str(&format!(",\"{name}\":["));
                    parts.push(std::mem::replace(&mut text, "]".to_owned()));
                }
            }
        }
        text.push_str("}\n");
        parts.push(text);
        Frame(parts)
    }

    fn piece(&self, number: usize, extent: Extent, kept: &Included) -> EntryText {
        let mut piece = EntryText::default();
        match &self.report.entries[number] {
            Entry::Note(entry) => self.note(number, entry, extent, kept, &mut piece),
            Entry::Unresolved { from, target, .. } => {
                let item = json!({"from": from.as_str(), "target": target});
                self.add("unresolved", item, &mut piece);
            }
            Entry::About(text) => self.add("about", json!(text), &mut piece),
            Entry::Command { line, purpose } => {
                self.add("commands", json!({"command": line, "purpose": purpose}), &mut piece);
            }
            Entry::Overview(overview) => {
                let counts = |name: &str, counts: &[(String, usize)]| -> Value {
                    counts.iter().map(|(text, count)| json!({name: text, "count": count})).collect()
                };
                let item = json!({
                    "notes": overview.notes,
                    "journals": overview.journals,
                    "tags": counts("tag", &overview.tags),
                    "folders": counts("folder", &overview.folders),
                });
                self.add("overview", item, &mut piece);
            }
            Entry::Recipe(recipe) => {
                let mut item = json!({
                    "name": recipe.name,
                    "about": recipe.about,
                    "path": recipe.path,
                    "state": recipe.state,
                });
                if let Some(fits) = recipe.fits {
                    item["fits"] = fits.into();
                }
                self.add("recipes", item, &mut piece);
            }
            Entry::Link { edge, title } => {
                let mut item = link_object(edge);
                item["title"] = json!(title);
                self.add("links", item, &mut piece);
            }
            Entry::Tag { tag, count } => self.add("tags", json!({"tag": tag, "count": count}), &mut piece),
            Entry::Fact { name, count } => self.add("counts", json!({"name": name, "count": count}), &mut piece),
            Entry::Kind { kind, count } => self.add("types", json!({"type": kind, "count": count}), &mut piece),
            Entry::Finding(finding) => {
                let item = json!({
                    "level": finding.level(),
                    "code": finding.code,
                    "id": finding.id.as_ref().map(|id| id.as_str()),
                    "path": finding.path,
                    "line": finding.line,
                    "message": finding.message,
                });
                self.add("findings", item, &mut piece);
            }
            Entry::Row(row) => {
                let fields = row.fields.iter().map(|(name, value)| ((*name).to_owned(), row_value(value)));
                self.add(row.list, Value::Object(fields.collect()), &mut piece);
            }
            Entry::Change(change) => self.add("changes", change_object(change), &mut piece),
            Entry::Text(text) => piece.add(self.section("text"), json_string(text)),
            Entry::Comparison(comparison) => {
                let object = harmless_json(comparison_object(comparison).to_string());
                piece.add(self.section(COMPARISON), format!(",\"{COMPARISON}\":{object}"));
            }
            Entry::Pattern(pattern) => {
                let dates: Vec<String> = pattern.dates.iter().map(|date| date.to_string()).collect();
                let (kind, count) = (pattern.kind, pattern.count);
                let item = json!({"kind": kind, "pattern": pattern.pattern, "count": count, "dates": dates});
                self.add(PATTERNS, item, &mut piece);
            }
        }
        piece
    }

    fn detail(&self, entry: &Entry) -> Detail {
        match entry.note().map(|entry| entry.role) {
            _ if entry.note().is_some_and(|entry| entry.belief.is_some()) => Detail::Name,
            Some(EntryRole::Selected) if self.shows_body() => Detail::Body,
            Some(_) => Detail::Summary,
            None => Detail::Name,
        }
    }
}

impl Json<'_> {
    fn shows_body(&self) -> bool {
        shows_body(
            self.report,
            matches!(self.report.head.mode, ReportKind::Context | ReportKind::Show | ReportKind::Journal { .. }),
        )
    }

    /// Tells whether links may be shown beside notes.
    fn has_links(&self) -> bool {
        self.report.entries.iter().filter_map(Entry::note).any(|entry| !entry.edges.is_empty())
    }

    /// Returns the number of a section; what has no section of its own goes to the last one.
    fn section(&self, name: &str) -> usize {
        let names = sections(&self.report.head.mode);
        names.iter().position(|have| *have == name).unwrap_or(names.len() - 1)
    }

    fn add(&self, section: &str, item: Value, piece: &mut EntryText) {
        piece.add(self.section(section), harmless_json(item.to_string()));
    }

    fn note(&self, number: usize, entry: &NoteEntry, extent: Extent, kept: &Included, piece: &mut EntryText) {
        let item = match &entry.belief {
            Some(belief) if self.says_content => self.belief_object((number, kept), entry, belief, extent, piece),
            Some(belief) => self.weighed((number, kept), entry, belief, extent, piece),
            None if !self.says_content => found_object(entry),
            None => {
                let (item, is_cut) = self.note_object(number, entry, extent, kept);
                piece.is_cut = is_cut;
                item
            }
        };
        let section = match entry.role {
            EntryRole::Map => "mocs",
            EntryRole::LastJournal => "journals",
            EntryRole::Decision => "decisions",
            EntryRole::Selected | EntryRole::Recent => "notes",
        };
        self.add(section, item.into(), piece);
        for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
            self.add("links", link_object(edge), piece);
        }
        let parent = entry.parent.and_then(|parent| self.report.entries.get(parent)?.note());
        if let (ReportKind::LinkTree { .. }, Some(parent)) = (&self.report.head.mode, parent) {
            let from = parent.note.id.as_str();
            let item = json!({"from": from, "to": entry.note.id.as_str(), "hop": entry.hop});
            self.add("spanning_tree", item, piece);
        }
    }

    /// A note at a level: what it says, and how far it can be relied on.
    fn belief_object(
        &self,
        (number, kept): (usize, &Included),
        entry: &NoteEntry,
        belief: &Assessment,
        extent: Extent,
        piece: &mut EntryText,
    ) -> Map<String, Value> {
        let note = &entry.note;
        let content = content(number, entry, belief, extent, kept);
        let show = self.report.head.show;
        piece.say(&content, self.tokenizer);
        let mut object = Map::new();
        let mut say = |name: &str, value: Value| object.insert(name.to_owned(), value);
        say("id", json!(note.id.as_str()));
        say("title", json!(note.title));
        say("type", json!(note.kind));
        say("tags", json!(note.tags));
        say("level", json!(content.level.name()));
        match &content.passages {
            Some(passages) => say("passages", passages.iter().map(passage_object).collect()),
            None => say("content", json!(content.text)),
        };
        say(
            "confidence",
            match show.passages && !self.report.head.explains {
                true => json!({"overall": belief.confidence.overall}),
                false => confidence_object(belief),
            },
        );
        if content.level == Level::Essence {
            say("confidence_label", json!(belief.confidence.label()));
        }
        say("source_trust", json!(belief.trust));
        say("relevance_score", json!(belief.relevance));
        if let (Some(utility), Some(novelty)) = (belief.utility, extent.novelty()) {
            let utility = utility.with_novelty(novelty);
            let parts = UTILITY_PARTS.iter().zip(utility.parts).map(|(name, part)| (*name, part));
            let all = [("total", utility.total())].into_iter().chain(parts);
            say(
                "utility",
                Value::Object(all.map(|(name, part)| (name.to_owned(), json!(ten_thousandths(part)))).collect()),
            );
        }
        say("token_count", json!(piece.tokens));
        say("has_derivation", json!(!belief.derived_from.is_empty()));
        say("has_more_detail", json!(content.has_more));
        say("contradiction_count", json!(belief.contradictions));
        if content.level == Level::Detailed && !belief.derived_from.is_empty() {
            let origins = belief.derived_from.iter();
            let origin = |(id, title, confidence): &(NoteId, String, f64)| json!({"id": id.as_str(), "title": title, "confidence": confidence});
            say("derived_from", origins.map(origin).collect());
        }
        self.say_fields(entry, &mut object);
        object
    }

    /// Which note is shown at which level, and the numbers that say how far it can be relied on.
    fn weighed(
        &self,
        (number, kept): (usize, &Included),
        entry: &NoteEntry,
        belief: &Assessment,
        extent: Extent,
        piece: &mut EntryText,
    ) -> Map<String, Value> {
        let content = content(number, entry, belief, extent, kept);
        piece.say(&content, self.tokenizer);
        let mut object = found_object(entry);
        let mut say = |name: &str, value: Value| object.insert(name.to_owned(), value);
        say("level", json!(content.level.name()));
        say("confidence", json!({"overall": belief.confidence.overall}));
        say("source_trust", json!(belief.trust));
        say("relevance_score", json!(belief.relevance));
        if let Some(utility) = belief.utility {
            let utility = extent.novelty().map_or(utility, |novelty| utility.with_novelty(novelty));
            say("utility", json!({"total": ten_thousandths(utility.total())}));
        }
        say("token_count", json!(piece.tokens));
        say("has_derivation", json!(!belief.derived_from.is_empty()));
        say("has_more_detail", json!(content.has_more));
        say("contradiction_count", json!(belief.contradictions));
        object
    }

    /// Says what answers about notes say of all of them.
    fn say_fields(&self, entry: &NoteEntry, object: &mut Map<String, Value>) {
        let note = &entry.note;
        let mut say = |name: &str, value: Value| object.insert(name.to_owned(), value);
        if self.report.head.show.sources {
            let sources = note
                .sources
                .iter()
                .map(|source| json!({"url": source.url, "title": source.title, "accessed": source.accessed}));
            say("sources", sources.collect());
        }
        if self.report.head.show.custom {
            let fields = note.custom.iter().map(|(key, value)| (key.clone(), value.to_json()));
            say("custom", Value::Object(fields.collect()));
        }
        say("path", json!(self.report.head.shown(&note.path)));
        say("created", json!(note.created.as_ref().map(|stamp| stamp.as_str())));
        say("updated", json!(note.updated.as_ref().map(|stamp| stamp.as_str())));
        say("value", json!(note.value_or_default()));
        if let Some(status) = entry.retired.and_then(|retired| retired.status) {
            say("status", json!(status));
        }
        if let Some(day) = entry.retired.and_then(|retired| retired.expired) {
            say("expired", json!(day.to_string()));
        }
        if !entry.compacts.is_empty() {
            say("compacts", entry.compacts.iter().map(|id| json!(id.as_str())).collect());
        }
    }

    fn note_object(
        &self,
        number: usize,
        entry: &NoteEntry,
        extent: Extent,
        kept: &Included,
    ) -> (Map<String, Value>, bool) {
        let note = &entry.note;
        // What sums a note up stands in for a text that is not there.
        let passages = kept.passages(number, entry, extent);
        let has_text = (self.shows_body() || entry.blocks.is_some()) && !matches!(extent, Extent::Summary(_));
        let summary = if has_text { note.summary().map(Into::into) } else { entry.summary() };
        let (summary, mut is_cut) = summary_text(summary.as_deref(), extent);
        let mut object = Map::new();
        let mut say = |name: &str, value: Value| object.insert(name.to_owned(), value);
        say("id", json!(note.id.as_str()));
        say("title", json!(note.title));
        say("type", json!(note.kind));
        say("tags", json!(note.tags));
        if passages.is_none() {
            say("summary", json!(summary));
        }
        if let Some(passages) = &passages {
            say("passages", passages.iter().map(passage_object).collect());
        } else if entry.blocks.is_some() {
            if extent == Extent::Whole {
                say("blocks", kept.blocks(entry).unwrap_or_default().iter().map(block_object).collect());
            }
        } else if let Some((body, body_cut)) = body_text(note.body(), note.is_cut, extent, self.shows_body()) {
            is_cut |= body_cut;
            say("content", json!(body));
        }
        self.say_fields(entry, &mut object);
        let mut say = |name: &str, value: Value| object.insert(name.to_owned(), value);
        match &entry.found {
            Some(found) => say_found(found, note, extent, &mut object),
            None if self.report.head.mode == ReportKind::List => say("relevance", Value::Null),
            None => None,
        };
        (object, is_cut)
    }
}

/// A note's id, and those of the notes that it stands for; its relevance, where it was searched for.
fn found_object(entry: &NoteEntry) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("id".to_owned(), json!(entry.note.id.as_str()));
    if let Some(found) = &entry.found {
        object.insert("relevance".to_owned(), json!(thousandths(found.relevance)));
    }
    if !entry.compacts.is_empty() {
        object.insert("compacts".to_owned(), entry.compacts.iter().map(|id| json!(id.as_str())).collect());
    }
    object
}

/// Says how and why a note was found.
fn say_found(found: &MatchInfo, note: &Note, extent: Extent, object: &mut Map<String, Value>) -> Option<Value> {
    let mut say = |name: &str, value: Value| object.insert(name.to_owned(), value);
    say("relevance", json!(thousandths(found.relevance)));
    if extent != Extent::Whole {
        return None;
    }
    if let Some(excerpt) = &found.excerpt {
        let snippet = (excerpt.0)(note);
        let chars = |text: &str, byte: usize| text.get(..byte).unwrap_or_default().chars().count();
        let marks = snippet.iter().flat_map(|snippet| {
            snippet.marks.iter().map(|mark| json!([chars(&snippet.text, mark.start), chars(&snippet.text, mark.end)]))
        });
        let marks: Value = marks.collect();
        say("snippet", json!(snippet.as_ref().map(|snippet| &snippet.text)));
        say("marks", marks);
    } else {
        say("shared", json!(found.shared));
        say("common", found.common.iter().map(|id| json!(id.as_str())).collect());
    }
    if !found.parts.is_empty() {
        let parts = found.parts.iter().map(|(name, part)| ((*name).to_owned(), json!(thousandths(*part))));
        say("explain", Value::Object(parts.collect()));
    }
    None
}

/// Says how notes were chosen, and what is missing.
fn account_facts(account: &SelectionStats, is_brief: bool) -> Vec<(&'static str, Value)> {
    let mut facts = vec![
        ("total_tokens", json!(account.total_tokens)),
        ("confidence_floor", json!(account.confidence_floor)),
        ("coverage_estimate", json!(ten_thousandths(account.coverage))),
        ("contradictions_available", json!(account.has_contradictions)),
    ];
    if let Some(reason) = &account.insufficient {
        facts.push(("insufficient", json!({"reason": reason})));
    }
    if !is_brief {
        facts.push(("expandable_ids", account.expandable.iter().map(|id| json!(id.as_str())).collect()));
        facts.push(("selection_reasoning", json!(account.reasoning)));
    }
    facts
}

fn confidence_object(belief: &Assessment) -> Value {
    let mut object = Map::new();
    object.insert("overall".to_owned(), json!(belief.confidence.overall));
    for (number, name) in DIMENSIONS.iter().enumerate() {
        let dimension = belief.confidence.dimensions.map(|dimensions| dimensions[number]);
        object.insert((*name).to_owned(), json!(dimension));
    }
    Value::Object(object)
}

fn ten_thousandths(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

fn block_object(block: &BlockEntry) -> Value {
    let score = thousandths(block.score);
    json!({"id": block.id, "path": &*block.path, "depth": block.depth, "text": block.text, "score": score})
}

fn passage_object(passage: &Passage) -> Value {
    json!({"lines": [passage.lines.0, passage.lines.1], "path": &*passage.path, "text": passage.text})
}

fn analysis_object(analysis: &Analysis) -> Value {
    let references = analysis.references.iter().map(|(text, ids)| {
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        json!({"text": text, "ids": ids})
    });
    let dates = analysis.dates.iter();
    let dates =
        dates.map(|named| json!({"text": named.text, "date": named.day.to_string(), "journals": named.journals}));
    let periods = analysis.periods.iter().map(|period| {
        json!({
            "text": period.text,
            "from": period.from.map(|from| from.to_string()),
            "to": period.to.to_string(),
            "journals": period.journals,
        })
    });
    json!({
        "references": references.collect::<Value>(),
        "dates": dates.collect::<Value>(),
        "periods": periods.collect::<Value>(),
        "intents": analysis.intents,
        "terms": analysis.terms,
        "warnings": analysis.warnings,
    })
}

fn comparison_object(comparison: &ComparisonEntry) -> Value {
    let side = |side: &SideEntry| {
        json!({
            "text": side.text,
            "from": side.from.map(|from| from.to_string()),
            "to": side.to.to_string(),
            "journals": side.journals,
            "blocks": side.blocks,
        })
    };
    let traits =
        |traits: &JournalTraits| json!({"tags": traits.tags, "keywords": traits.keywords, "fields": traits.fields});
    json!({
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "similarity": comparison.similarity,
        "shared": traits(&comparison.shared),
        "only_a": traits(&comparison.only_a),
        "only_b": traits(&comparison.only_b),
    })
}

fn row_value(value: &RowValue) -> Value {
    match value {
        RowValue::Name(text) | RowValue::Text(text) => json!(text),
        RowValue::Count(count) => json!(count),
        RowValue::Counts(counts) => json!(counts),
        RowValue::Share(share) => json!(thousandths(*share)),
        RowValue::Nothing => Value::Null,
    }
}

fn change_object(change: &ChangeEntry) -> Value {
    let mut object = json!({
        "id": change.id.as_ref().map(|id| id.as_str()),
        "action": change.action,
        "path": change.path,
    });
    if let Some(diff) = &change.diff {
        object["diff"] = json!(diff);
    }
    object
}

fn link_object(edge: &EdgeEntry) -> Value {
    json!({
        "from": edge.from.as_str(),
        "to": edge.to.as_str(),
        "type": edge.kind,
        "source": edge.sources,
    })
}

fn facts(mode: &ReportKind) -> Vec<(&'static str, Value)> {
    match mode {
        ReportKind::Context => vec![("mode", json!("context"))],
        ReportKind::Expansion => vec![("mode", json!("context.expand"))],
        ReportKind::Prime => vec![("mode", json!("prime"))],
        ReportKind::LinkList { id, direction } => {
            vec![("mode", json!("link.list")), ("id", json!(id.as_str())), ("direction", json!(direction))]
        }
        ReportKind::LinkTree { root, direction, max_hops } => vec![
            ("mode", json!("link.tree")),
            ("root", json!(root.as_str())),
            ("direction", json!(direction)),
            ("max_hops", json!(max_hops)),
        ],
        ReportKind::LinkPath { from, to, direction, length } => vec![
            ("mode", json!("link.path")),
            ("from", json!(from.as_str())),
            ("to", json!(to.as_str())),
            ("direction", json!(direction)),
            ("found", json!(length.is_some())),
            ("path_length", json!(length)),
        ],
        ReportKind::Graph => vec![("mode", json!("graph"))],
        ReportKind::List => vec![("mode", json!("list"))],
        ReportKind::Search => vec![("mode", json!("search"))],
        ReportKind::Related { id } => vec![("mode", json!("related")), ("id", json!(id.as_str()))],
        ReportKind::Show => vec![("mode", json!("show"))],
        ReportKind::Journal { day } => vec![("mode", json!("journal")), ("date", json!(day.to_string()))],
        ReportKind::Tags => vec![("mode", json!("tags"))],
        ReportKind::Status => vec![("mode", json!("status"))],
        ReportKind::Index => vec![("mode", json!("index"))],
        ReportKind::Doctor => vec![("mode", json!("doctor"))],
        ReportKind::Eval => vec![("mode", json!("eval"))],
        ReportKind::Setup => vec![("mode", json!("setup"))],
        ReportKind::Change { command, is_dry_run } => vec![("mode", json!(command)), ("dry_run", json!(is_dry_run))],
    }
}

fn sections(mode: &ReportKind) -> &'static [&'static str] {
    match mode {
        ReportKind::Context => &["notes", LINKS, PATTERNS, COMPARISON],
        ReportKind::Expansion => &["notes", "links"],
        ReportKind::Prime => &["about", "commands", "overview", "journals", "decisions", "mocs", "notes"],
        ReportKind::LinkList { .. } => &["notes", "links", "unresolved"],
        ReportKind::LinkTree { .. } => &["notes", "links", "spanning_tree"],
        ReportKind::LinkPath { .. } | ReportKind::Graph => &["notes", "links"],
        ReportKind::List | ReportKind::Search | ReportKind::Related { .. } => &["notes"],
        ReportKind::Show => &["notes", "links", "unresolved", "text"],
        ReportKind::Journal { .. } => &["notes"],
        ReportKind::Tags => &["tags"],
        ReportKind::Status => &["counts", "types"],
        ReportKind::Index => &["counts"],
        ReportKind::Doctor => &["findings", "changes"],
        ReportKind::Eval => &["figures", "misses", "false_answers"],
        ReportKind::Setup => &["recipes", "changes", "text"],
        ReportKind::Change { command: "import", .. } => &["changes", "findings", "counts"],
        ReportKind::Change { .. } => &["changes", "findings"],
    }
}
