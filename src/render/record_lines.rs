//! The records of entries and their parts. Each record ends with a line end.

use std::borrow::Cow;

use super::level_text::LevelText;
use super::{FrameState, joined_ids};
use crate::escape::{escape_lines, json_string, quote_value};
use crate::note::NoteId;
use crate::report::{
    Analysis, Assessment, BlockEntry, ChangeEntry, ComparisonEntry, DIMENSIONS, DetailLevel, DiagnosticEntry,
    EdgeEntry, EntryRole, JournalTraits, LinkedNote, MatchLevel, NoteEntry, NoteHandle, OverviewEntry, Passage,
    PatternEntry, PeriodEntry, QuestionMatch, RecipeEntry, Report, RowValue, SelectionStats, SideEntry, UTILITY_PARTS,
    UnknownWord, named_words,
};

/// Adds the notes that a note replaces.
pub(super) fn push_compacted(entry: &NoteEntry, out: &mut String) {
    for member in &entry.compacted {
        out.push_str(&format!("D compacted {member} from={}\n", entry.note.id));
    }
}

pub(super) fn overview_line(overview: &OverviewEntry) -> String {
    let names = |counts: &[(String, usize)]| -> Vec<String> { counts.iter().map(|(name, _)| name.clone()).collect() };
    let (tags, folders) = (values(&names(&overview.tags)), values(&names(&overview.folders)));
    let (notes, journals) = (overview.notes, overview.journals);
    format!("D overview notes={notes} journals={journals} tags={tags} folders={folders}\n")
}

pub(super) fn recipe_line(recipe: &RecipeEntry) -> String {
    let fits = recipe.fits.map(|fits| format!(" fits={fits}")).unwrap_or_default();
    let (name, state, path, about) = (recipe.name, recipe.state, quote_value(&recipe.path), json_string(recipe.about));
    format!("D recipe name={name} state={state} path={path} about={about}{fits}\n")
}

pub(super) fn pattern_line(pattern: &PatternEntry) -> String {
    let (kind, name) = (pattern.kind, json_string(&pattern.pattern));
    format!("D pattern kind={kind} pattern={name} count={} dates={}\n", pattern.count, pattern.dates.join(","))
}

pub(super) fn spelling_line(spelling: &UnknownWord) -> String {
    let read_as = spelling.read_as.as_deref().map_or(Cow::Borrowed("-"), quote_value);
    format!("D spelling word={} read-as={read_as}\n", json_string(&spelling.word))
}

/// Returns how well the notes match the question, with the words that the passages lack.
///
/// A brief frame has no words, which may be long.
pub(super) fn match_line(matched: &QuestionMatch, shown: FrameState<'_>) -> String {
    let words = if shown.is_brief {
        String::new()
    } else {
        let (missing, unknown) = (values(&shown.tail.missing), values(&named_words(&matched.unknown)));
        format!(" missing={missing} unknown={unknown}")
    };
    let model = matched.model.as_ref().map(|model| format!(" model={model}")).unwrap_or_default();
    let fields = format!("score={:.2}{words}{model}\n", matched.score);
    match matched.level {
        MatchLevel::Weak => format!("W weak {fields}"),
        level => format!("D match level={} {fields}", level.name()),
    }
}

/// Returns the notes behind those that are shown, and the next page.
pub(super) fn tail_records(report: &Report, shown: FrameState<'_>) -> String {
    let tail = shown.tail;
    if shown.is_brief {
        return String::new();
    }
    let mut text = String::new();
    for entry in tail.also.iter().filter_map(|index| report.entries.get(*index)?.note()) {
        let path = report.head.path_of(&entry.note);
        let (id, title) = (&entry.note.id, json_string(entry.note.title()));
        text.push_str(&format!("D also id={id} path={} title={title}\n", quote_value(&path)));
    }
    text.extend(tail.more.map(|after| format!("D more after={after}\n")));
    text
}

/// Returns the interpretation of a question, a record for each part.
pub(super) fn analysis_lines(analysis: &Analysis) -> String {
    let mut text = String::new();
    for (name, ids) in &analysis.references {
        text.push_str(&format!("D analysis reference={} ids={}\n", json_string(name), joined_ids(ids, ",")));
    }
    for named in &analysis.dates {
        let (name, day, count) = (json_string(&named.text), named.day, named.journals);
        text.push_str(&format!("D analysis date={name} day={day} journals={count}\n"));
    }
    for period in &analysis.periods {
        text.push_str(&format!("D analysis period={}\n", period_fields(period)));
    }
    if !analysis.intents.is_empty() {
        text.push_str(&format!("D analysis intents={}\n", analysis.intents.join(",")));
    }
    text.push_str(&format!("D analysis terms={}\n", values(&analysis.terms)));
    for warning in &analysis.warnings {
        text.push_str(&format!("D analysis warning={}\n", json_string(warning)));
    }
    text
}

/// Returns the fields of a period, its phrase first, without a name.
fn period_fields(period: &PeriodEntry) -> String {
    let begin = period.period.from.map_or("-".to_owned(), |from| from.to_string());
    format!("{} begin={begin} end={} journals={}", json_string(&period.text), period.period.to, period.journals)
}

/// Returns several values with commas between them; `-` for none.
fn values(texts: &[impl AsRef<str>]) -> String {
    let values: Vec<_> = texts.iter().map(|text| quote_value(text.as_ref())).collect();
    if values.is_empty() { "-".to_owned() } else { values.join(",") }
}

/// Returns a comparison: both sides, their similarity, then their traits.
pub(super) fn comparison_lines(comparison: &ComparisonEntry) -> String {
    let side = |name: &str, side: &SideEntry| {
        format!("D comparison side={name} text={} blocks={}\n", period_fields(&side.period), side.blocks)
    };
    let traits = |name: &str, traits: &JournalTraits| {
        let (tags, keywords, fields) = (values(&traits.tags), values(&traits.keywords), values(&traits.fields));
        format!("D comparison part={name} tags={tags} keywords={keywords} fields={fields}\n")
    };
    let similarity = comparison.similarity.map_or("-".to_owned(), |similarity| format!("{similarity:.2}"));
    let mut text = side("a", &comparison.a) + &side("b", &comparison.b);
    text.push_str(&format!("D comparison similarity={similarity}\n"));
    text + &traits("shared", &comparison.shared)
        + &traits("only_a", &comparison.only_a)
        + &traits("only_b", &comparison.only_b)
}

pub(super) fn block_line(block: &BlockEntry, note: &NoteHandle) -> String {
    let changed = note.list_fields().changed().map_or("-".to_owned(), |changed| changed.date().to_string());
    let (id, path, text) = (quote_value(&block.id), values(&block.heading_path), json_string(&block.text));
    let (depth, score) = (block.depth, block.score);
    format!(
        "D block id={id} path={path} depth={depth} changed={changed} score={score:.3} text={text} from={}\n",
        note.id
    )
}

pub(super) fn push_match(entry: &NoteEntry, out: &mut String) {
    let Some(found) = &entry.match_info else { return };
    let id = &entry.note.id;
    out.push_str(&format!("D match relevance={:.3}", found.relevance));
    if let Some(snippet) = entry.snippet() {
        out.push_str(&format!(" line={} snippet={}", snippet.line, json_string(&snippet.text)));
    }
    if !found.shared.is_empty() {
        out.push_str(&format!(" shared={}", values(&found.shared)));
    }
    if !found.common.is_empty() {
        out.push_str(&format!(" common={}", joined_ids(&found.common, ",")));
    }
    out.push_str(&format!(" from={id}\n"));
    if !found.parts.is_empty() {
        let parts: Vec<_> = found.parts.iter().map(|(name, part)| format!("{name}={part:.3}")).collect();
        out.push_str(&format!("D explain {} from={id}\n", parts.join(" ")));
    }
}

/// Returns a change. Its diff is a body, so that no line of it can be another record.
pub(super) fn change_lines(change: &ChangeEntry) -> String {
    let from = change.id.as_ref().map_or(String::new(), |id| format!(" from={id}"));
    let alias = change.alias.as_ref().map_or(String::new(), |alias| format!(" alias={}", json_string(alias)));
    let revision = change.revision.as_ref().map_or(String::new(), |revision| format!(" revision={revision}"));
    let path = quote_value(&change.path);
    let mut text = format!("D change action={} path={path}{alias}{revision}{from}\n", change.action);
    if let Some(diff) = &change.diff {
        push_body(change.id.as_ref().map_or("-", |id| id.as_str()), diff.trim_end_matches('\n'), &mut text);
    }
    text
}

/// Returns fields with a space before each; those without a value are left out.
pub(super) fn fields(fields: &[(&'static str, RowValue)]) -> String {
    let mut text = String::new();
    for (name, field) in fields {
        let written = match field {
            RowValue::Name(name) => quote_value(name).into_owned(),
            RowValue::Lines(lines) if lines.is_empty() => continue,
            RowValue::Text(_) | RowValue::Lines(_) => json_string(&field.to_text()),
            RowValue::Nothing => continue,
            value => value.to_text(),
        };
        text.push_str(&format!(" {name}={written}"));
    }
    text
}

pub(super) fn finding_line(finding: &DiagnosticEntry) -> String {
    let line = finding.line.map_or(String::new(), |line| format!(" line={line}"));
    let from = finding.id.as_ref().map_or(String::new(), |id| format!(" from={id}"));
    let (level, path, message) = (finding.severity.name(), quote_value(&finding.path), json_string(&finding.message));
    format!("D finding level={level} code={} path={path}{line} message={message}{from}\n", finding.code)
}

pub(super) fn edge_line(edge: &EdgeEntry) -> String {
    format!("E {} {} {} {}\n", edge.from, quote_value(&edge.kind), edge.to, edge.sources.join(" "))
}

/// Returns the record of a link with what is marked of the note at its end.
pub(super) fn linked_line(edge: &EdgeEntry, note: &LinkedNote) -> String {
    let collection = note.collection.as_ref().map(|name| format!(" in={name}")).unwrap_or_default();
    let status = note.status.map(|status| format!(" status={status}")).unwrap_or_default();
    format!("{}{collection}{status}\n", edge_line(edge).trim_end_matches('\n'))
}

/// Returns the first record of a note: its id, type, title, tags and state. `path`: that of its file, if it is shown.
pub(super) fn name_line(entry: &NoteEntry, path: Option<&str>, has_revision: bool) -> String {
    let note = &entry.note;
    let (title, tags) = (json_string(note.title()), values(&note.tags()));
    let path = path.map_or(String::new(), |path| format!(" path={}", quote_value(path)));
    let revision = has_revision.then(|| entry.revision()).flatten();
    let revision = revision.map_or(String::new(), |revision| format!(" revision={revision}"));
    let state = path + &revision + &state_fields(entry);
    match entry.role {
        EntryRole::Map => format!("M {} {title} tags={tags}{state}\n", note.id),
        _ => format!("N {} {} {title} tags={tags}{state}\n", note.id, quote_value(note.list_fields().kind)),
    }
}

/// Returns the day of a journal whose title does not contain it, whether a note holds, and which notes it replaces.
fn state_fields(entry: &NoteEntry) -> String {
    let retired = entry.state().retired.unwrap_or_default();
    let mut fields = String::new();
    fields.extend(entry.note.untitled_day().map(|day| format!(" date={day}")));
    fields.extend(entry.collection().map(|name| format!(" in={name}")));
    fields.extend(entry.tier().map(|tier| format!(" tier={tier}")));
    fields.extend(entry.dates().into_iter().map(|(name, day)| format!(" {name}={}", quote_value(&day))));
    fields.push_str(if entry.state().has_conflict { " conflict=true" } else { "" });
    fields.extend(entry.due_mark().map(|mark| format!(" due={mark}")));
    fields.extend(entry.status().map(|status| format!(" status={status}")));
    fields.extend(retired.expired.map(|day| format!(" expired={day}")));
    fields.extend(entry.state().superseded_by.as_ref().map(|id| format!(" superseded-by={id}")));
    if !entry.state().supersedes.is_empty() {
        let ids: Vec<&str> = entry.state().supersedes.iter().map(NoteId::as_str).collect();
        fields.push_str(&format!(" supersedes={}", ids.join(",")));
    }
    fields
}

/// Adds a passage between its marks, with its first line in the file and its heading path.
pub(super) fn push_passage(id: &str, passage: &Passage, out: &mut String) {
    let path = match passage.heading_path.as_ref() {
        [] => String::new(),
        path => format!(" in={}", json_string(&path.join(" › "))),
    };
    push_lines(id, &format!(" at={}{path}", passage.lines.0), &passage.text, out);
}

/// Adds a body between its marks, unless it is empty.
pub(super) fn push_body(id: &str, body: &str, out: &mut String) {
    if !body.is_empty() {
        push_lines(id, "", body, out);
    }
}

/// Adds a text between its marks, with `fields` behind the number of its lines. A line that could be mistaken for the
/// closing mark gets a `\` before it.
fn push_lines(id: &str, fields: &str, body: &str, out: &mut String) {
    let body = escape_lines(body);
    out.push_str(&format!("B {id} lines={}{fields}\n", body.split('\n').count()));
    for line in body.split('\n') {
        if line.trim_start_matches('\\') == "B-END" {
            out.push('\\');
        }
        out.push_str(line);
        out.push('\n');
    }
    out.push_str("B-END\n");
}

pub(super) fn stats_lines(stats: &SelectionStats, shown: FrameState<'_>) -> String {
    let mut text = String::new();
    if let Some(reason) = &stats.insufficient {
        text.push_str(&format!("W insufficient {}\n", json_string(reason)));
    }
    let floor = stats.confidence_floor.map_or("-".to_owned(), |floor| format!("{floor:.2}"));
    let (tokens, coverage) = (stats.total_tokens, stats.coverage);
    text.push_str(&format!("D selection tokens={tokens} coverage={coverage:.2} confidence_floor={floor}"));
    if stats.has_contradictions && !shown.is_brief {
        text.push_str(" contradictions=true");
    }
    if !shown.is_brief {
        text.push_str(&format!(" reasoning={}", json_string(&stats.reasoning)));
    }
    text.push('\n');
    text
}

/// Returns the assessment of a note without defaults such as the level `detailed`, since every assessed note has it.
pub(super) fn assessment_line(content: &LevelText<'_>, note: &NoteHandle) -> String {
    let assessment = content.assessment;
    let mut text = "D belief".to_owned();
    if content.level < DetailLevel::Detailed {
        text.push_str(&format!(" level={}", content.level.name()));
    }
    text.push_str(&format!(" confidence={}", content.confidence()));
    if content.has_more {
        text.push_str(" more=true");
    }
    if !assessment.derived_from.is_empty() {
        text.push_str(" derived=true");
    }
    if assessment.contradictions > 0 {
        text.push_str(&format!(" contradictions={}", assessment.contradictions));
    }
    format!("{text} from={}\n", note.id)
}

/// Returns the parts of the confidence and the utility of a note.
pub(super) fn explanation_lines(assessment: &Assessment, novelty: f64, tokens: usize, note: &NoteHandle) -> String {
    let parts = |names: [&str; 6], parts: [f64; 6]| -> String {
        names.iter().zip(parts).map(|(name, part)| format!(" {name}={part:.4}")).collect()
    };
    let (trust, relevance) = (assessment.trust, assessment.relevance);
    let basis = assessment.trust_basis.name();
    let mut text = format!("D weighed trust={trust:.2} basis={basis} relevance={relevance:.2} tokens={tokens}");
    if !assessment.unsupported.is_empty() {
        text.push_str(&format!(" unsupported={}", assessment.unsupported.join(",")));
    }
    text.push_str(&format!(" from={}\n", note.id));
    if let Some(dimensions) = assessment.confidence.dimensions {
        text.push_str(&format!("D confidence{} from={}\n", parts(DIMENSIONS, dimensions), note.id));
    }
    if let Some(utility) = assessment.utility.map(|utility| utility.with_novelty(novelty)) {
        let parts = parts(UTILITY_PARTS, utility.parts);
        text.push_str(&format!("D utility total={:.4}{parts} from={}\n", utility.total(), note.id));
    }
    text
}
