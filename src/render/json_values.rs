//! The JSON objects of entries and their parts.

use serde_json::{Map, Value, json};

use crate::report::{
    Analysis, Assessment, BlockEntry, ChangeEntry, ComparisonEntry, DIMENSIONS, DiagnosticEntry, EdgeEntry,
    JournalTraits, NoteEntry, OverviewEntry, Passage, PatternEntry, RecipeEntry, RowValue, SelectionStats, SideEntry,
};

/// Returns the id of a note, with its relevance and the notes that it replaces.
pub(super) fn note_reference(entry: &NoteEntry) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("id".to_owned(), json!(entry.note.id.as_str()));
    if let Some(found) = &entry.match_info {
        object.insert("relevance".to_owned(), json!(thousandths(found.relevance)));
    }
    if !entry.compacted.is_empty() {
        object.insert("compacts".to_owned(), entry.compacted.iter().map(|id| json!(id.as_str())).collect());
    }
    object
}

/// Adds how a search found a note; in a shortened note, the relevance alone.
pub(super) fn add_match(entry: &NoteEntry, is_whole: bool, object: &mut Map<String, Value>) {
    let Some(found) = &entry.match_info else { return };
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("relevance", json!(thousandths(found.relevance)));
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
        add("snippet", json!(snippet.as_ref().map(|snippet| &snippet.text)));
        add("marks", marks);
    } else {
        add("shared", json!(found.shared));
        add("common", found.common.iter().map(|id| json!(id.as_str())).collect());
    }
    if !found.parts.is_empty() {
        let parts = found.parts.iter().map(|(name, part)| ((*name).to_owned(), json!(thousandths(*part))));
        add("explain", Value::Object(parts.collect()));
    }
}

/// Returns the statistics of assessed notes, in a brief frame the figures alone.
pub(super) fn stats_fields(stats: &SelectionStats, is_brief: bool) -> Vec<(&'static str, Value)> {
    let mut fields = vec![
        ("total_tokens", json!(stats.total_tokens)),
        ("confidence_floor", json!(stats.confidence_floor)),
        ("coverage_estimate", json!(ten_thousandths(stats.coverage))),
        ("contradictions_available", json!(stats.has_contradictions)),
    ];
    if let Some(reason) = &stats.insufficient {
        fields.push(("insufficient", json!({"reason": reason})));
    }
    if !is_brief {
        fields.push(("expandable_ids", stats.expandable.iter().map(|id| json!(id.as_str())).collect()));
        fields.push(("selection_reasoning", json!(stats.reasoning)));
    }
    fields
}

/// Returns the confidence with its dimensions.
pub(super) fn confidence_object(assessment: &Assessment) -> Value {
    let mut object = Map::new();
    object.insert("overall".to_owned(), json!(assessment.confidence.overall));
    for (index, name) in DIMENSIONS.iter().enumerate() {
        let dimension = assessment.confidence.dimensions.map(|dimensions| dimensions[index]);
        object.insert((*name).to_owned(), json!(dimension));
    }
    Value::Object(object)
}

/// Rounds to four decimals.
pub(super) fn ten_thousandths(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

/// Rounds to three decimals.
fn thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

pub(super) fn block_object(block: &BlockEntry) -> Value {
    let score = thousandths(block.score);
    json!({"id": block.id, "path": &*block.path, "depth": block.depth, "text": block.text, "score": score})
}

pub(super) fn passage_object(passage: &Passage) -> Value {
    json!({"lines": [passage.lines.0, passage.lines.1], "path": &*passage.path, "text": passage.text})
}

pub(super) fn analysis_object(analysis: &Analysis) -> Value {
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

pub(super) fn comparison_object(comparison: &ComparisonEntry) -> Value {
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

pub(super) fn pattern_object(pattern: &PatternEntry) -> Value {
    let dates: Vec<String> = pattern.dates.iter().map(|date| date.to_string()).collect();
    json!({"kind": pattern.kind, "pattern": pattern.pattern, "count": pattern.count, "dates": dates})
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

pub(super) fn recipe_object(recipe: &RecipeEntry) -> Value {
    let mut object = json!({
        "name": recipe.name,
        "about": recipe.about,
        "path": recipe.path,
        "state": recipe.state,
    });
    if let Some(fits) = recipe.fits {
        object["fits"] = fits.into();
    }
    object
}

pub(super) fn finding_object(finding: &DiagnosticEntry) -> Value {
    json!({
        "level": finding.level(),
        "code": finding.code,
        "id": finding.id.as_ref().map(|id| id.as_str()),
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
    })
}

pub(super) fn row_value(value: &RowValue) -> Value {
    match value {
        RowValue::Name(text) | RowValue::Text(text) => json!(text),
        RowValue::Count(count) => json!(count),
        RowValue::Counts(counts) => json!(counts),
        RowValue::Share(share) => json!(thousandths(*share)),
        RowValue::Flag(flag) => json!(flag),
        RowValue::Nothing => Value::Null,
    }
}

pub(super) fn change_object(change: &ChangeEntry) -> Value {
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

pub(super) fn link_object(edge: &EdgeEntry) -> Value {
    json!({
        "from": edge.from.as_str(),
        "to": edge.to.as_str(),
        "type": edge.kind,
        "source": edge.sources,
    })
}
