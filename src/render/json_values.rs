//! The JSON objects of entries and their parts.

use serde_json::{Value, json};

use super::{AnswerTail, FrameState};
use crate::report::{
    Analysis, Assessment, BlockEntry, ComparisonEntry, DIMENSIONS, DayEntry, EdgeEntry, LinkedNote, NoteEntry,
    OverviewEntry, Passage, PeriodEntry, QuestionMatch, Report, RowValue, SelectionStats, SideEntry, named_words,
};

/// Returns the id, title, type and tags of a note.
pub(super) fn named_note(entry: &NoteEntry) -> Value {
    let note = &entry.note;
    let mut object = json!({
        "id": note.id,
        "title": note.title(),
        "type": note.list_fields().kind,
        "tags": note.tags(),
    });
    if let Some(name) = entry.collection() {
        object["in"] = json!(name);
    }
    if let Some(tier) = entry.tier() {
        object["tier"] = json!(tier);
    }
    object
}

/// Returns how well the notes match the question, with the words that the passages lack; a brief frame has no words.
pub(super) fn match_object(matched: &QuestionMatch, shown: FrameState<'_>) -> Value {
    let words = |words: Vec<String>| if shown.is_brief { Vec::new() } else { words };
    let mut object = json!({
        "level": matched.level.name(),
        "score": rounded(matched.score, 4),
        "missing": words(shown.tail.missing.clone()),
        "unknown": words(named_words(&matched.unknown)),
    });
    if let Some(model) = &matched.model {
        object["model"] = json!(model);
    }
    object
}

/// Returns the notes behind those that are shown, as a member of the answer.
pub(super) fn also_field(report: &Report, tail: &AnswerTail) -> Option<(&'static str, Value)> {
    let entries = tail.also.iter().filter_map(|index| report.entries.get(*index)?.note());
    let object = |entry: &NoteEntry| {
        json!({
            "id": entry.note.id,
            "path": report.head.path_of(&entry.note),
            "title": entry.note.title(),
        })
    };
    (!tail.also.is_empty()).then(|| ("also", entries.map(object).collect()))
}

/// Returns a link with the title of the note at its end, and what is marked of it.
pub(super) fn linked_object(edge: &EdgeEntry, note: &LinkedNote) -> Value {
    let mut object = json!(edge);
    object["title"] = json!(note.title);
    if let Some(name) = &note.collection {
        object["in"] = json!(name);
    }
    if let Some(status) = note.status {
        object["status"] = json!(status);
    }
    object
}

/// Adds the notes that a note replaces.
pub(super) fn add_compacted(entry: &NoteEntry, object: &mut Value) {
    if !entry.compacted.is_empty() {
        object["compacts"] = json!(entry.compacted);
    }
}

/// Adds how a search found a note; in a shortened note, the relevance alone.
pub(super) fn add_match(entry: &NoteEntry, is_whole: bool, object: &mut Value) {
    let Some(found) = &entry.match_info else { return };
    object["relevance"] = json!(rounded(found.relevance, 3));
    if !is_whole {
        return;
    }
    if found.has_snippet {
        let snippet = entry.snippet();
        let chars = |text: &str, end: usize| text.get(..end).unwrap_or_default().chars().count();
        let marks = snippet.iter().flat_map(|snippet| {
            snippet.marks.iter().map(|mark| json!([chars(&snippet.text, mark.start), chars(&snippet.text, mark.end)]))
        });
        let marks: Value = marks.collect();
        object["snippet"] = json!(snippet.as_ref().map(|snippet| &snippet.text));
        object["marks"] = marks;
        object["line"] = json!(snippet.as_ref().map(|snippet| snippet.line));
    } else {
        object["shared"] = json!(found.shared);
        object["common"] = json!(found.common);
    }
    if !found.parts.is_empty() {
        let parts = found.parts.iter().map(|(name, part)| ((*name).to_owned(), json!(rounded(*part, 3))));
        object["explain"] = Value::Object(parts.collect());
    }
}

/// Returns the statistics of assessed notes, in a brief frame the figures alone.
pub(super) fn stats_fields(stats: &SelectionStats, is_brief: bool) -> Vec<(&'static str, Value)> {
    let mut fields = vec![
        ("total_tokens", json!(stats.total_tokens)),
        ("confidence_floor", json!(stats.confidence_floor)),
        ("coverage_estimate", json!(rounded(stats.coverage, 4))),
        ("contradictions_available", json!(stats.has_contradictions)),
    ];
    if let Some(reason) = &stats.insufficient {
        fields.push(("insufficient", json!({"reason": reason})));
    }
    if !is_brief {
        fields.push(("expandable_ids", json!(stats.expandable)));
        fields.push(("selection_reasoning", json!(stats.reasoning)));
    }
    fields
}

/// Returns the confidence with its dimensions.
pub(super) fn confidence_object(assessment: &Assessment) -> Value {
    let mut object = json!({"overall": assessment.confidence.overall});
    for (index, name) in DIMENSIONS.iter().enumerate() {
        object[name] = json!(assessment.confidence.dimensions.map(|dimensions| dimensions[index]));
    }
    object
}

/// Rounds to a number of decimals.
pub(super) fn rounded(number: f64, decimals: i32) -> f64 {
    let unit = 10_f64.powi(decimals);
    (number * unit).round() / unit
}

pub(super) fn block_object(block: &BlockEntry) -> Value {
    let score = rounded(block.score, 3);
    json!({"id": block.id, "path": &*block.heading_path, "depth": block.depth, "text": block.text, "score": score})
}

pub(super) fn passage_object(passage: &Passage) -> Value {
    json!({"lines": [passage.lines.0, passage.lines.1], "path": &*passage.heading_path, "text": passage.text})
}

pub(super) fn analysis_object(analysis: &Analysis) -> Value {
    let references = analysis.references.iter().map(|(text, notes)| json!({"text": text, "ids": notes}));
    let date = |day: &DayEntry| json!({"text": day.text, "date": day.day.to_string(), "journals": day.journals});
    json!({
        "references": references.collect::<Value>(),
        "dates": analysis.dates.iter().map(date).collect::<Value>(),
        "periods": analysis.periods.iter().map(period_object).collect::<Value>(),
        "intents": analysis.intents,
        "terms": analysis.terms,
        "warnings": analysis.warnings,
    })
}

fn period_object(period: &PeriodEntry) -> Value {
    json!({
        "text": period.text,
        "from": period.period.from.map(|from| from.to_string()),
        "to": period.period.to.to_string(),
        "journals": period.journals,
    })
}

pub(super) fn comparison_object(comparison: &ComparisonEntry) -> Value {
    let side = |side: &SideEntry| {
        let mut object = period_object(&side.period);
        object["blocks"] = json!(side.blocks);
        object
    };
    json!({
        "a": side(&comparison.a),
        "b": side(&comparison.b),
        "similarity": comparison.similarity,
        "shared": comparison.shared,
        "only_a": comparison.only_a,
        "only_b": comparison.only_b,
    })
}

pub(super) fn overview_object(overview: &OverviewEntry) -> Value {
    let counts = |name: &str, counts: &[(String, usize)]| -> Value {
        counts.iter().map(|(text, count)| json!({name: text, "count": count})).collect()
    };
    json!({
        "notes": overview.notes,
        "journals": overview.journals,
        "tags": counts("tag", &overview.tags),
        "folders": counts("folder", &overview.folders),
    })
}

pub(super) fn row_value(value: &RowValue) -> Value {
    match value {
        RowValue::Name(text) | RowValue::Text(text) => json!(text),
        RowValue::Count(count) => json!(count),
        RowValue::Counts(counts) => json!(counts),
        RowValue::Lines(lines) => json!(lines),
        RowValue::Share(share) => json!(rounded(*share, 3)),
        RowValue::Flag(flag) => json!(flag),
        RowValue::Nothing => Value::Null,
    }
}
