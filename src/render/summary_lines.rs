//! Lines for people about a whole answer: the question, comparisons, patterns and the statistics of the selection.

use super::{FrameState, joined_ids, joined_lines};
use crate::escape::one_line;
use crate::report::{
    Analysis, ComparisonEntry, DayEntry, JournalTraits, MatchLevel, PatternEntry, PeriodEntry, Report, ReportHead,
    SelectionStats, SideEntry, UnknownName, UnknownWord, counted, quoted_words, why_unsure,
};

/// Returns how weakly the notes match the question, as a line, in a brief frame without the reason; nothing for an answer.
pub(super) fn weak_match_line(head: &ReportHead, shown: FrameState<'_>) -> String {
    let Some(matched) = &head.question_match else { return String::new() };
    if shown.is_brief {
        return if matched.level == MatchLevel::Weak { "Weak match\n".to_owned() } else { String::new() };
    }
    let reason = why_unsure(&matched.unknown);
    match matched.level {
        MatchLevel::Answer => String::new(),
        MatchLevel::Weak => format!("Weak match: {reason}.\n"),
        // Where the notes are not shown, their lack has a reason of its own.
        MatchLevel::Nothing if head.insufficient.is_some() || head.matched == 0 => String::new(),
        MatchLevel::Nothing => format!("Nothing known: {reason}. These notes have some words of the question.\n"),
    }
}

/// Returns the end of a packed answer: the words of the question that it lacks, the notes behind it, and its next page.
pub(super) fn tail_lines(report: &Report, shown: FrameState<'_>) -> String {
    let tail = shown.tail;
    if shown.is_brief {
        return String::new();
    }
    let mut text = String::new();
    if !tail.missing.is_empty() {
        text.push_str(&format!("Not in these passages: {}.\n", quoted_words(&tail.missing)));
    }
    for entry in tail.also.iter().filter_map(|index| report.entries.get(*index)?.note()) {
        let path = one_line(&report.head.path_of(&entry.note));
        text.push_str(&format!("also: {path} {}\n", one_line(entry.note.title())));
    }
    text.extend(tail.more.map(|after| format!("more: --after {after}\n")));
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Returns a line for each word that was read as another, and for each phrase that no note has; none in a brief frame.
pub(super) fn spelling_lines(head: &ReportHead, shown: FrameState<'_>) -> String {
    let line = |spelling: &UnknownWord| match &spelling.read_as {
        Some(other) => format!("read \"{}\" as \"{}\"\n", one_line(&spelling.word), one_line(other)),
        None => format!("no note has \"{}\"; its words are searched for one by one\n", one_line(&spelling.word)),
    };
    head.spellings.iter().filter(|_| !shown.is_brief).map(line).collect()
}

/// Returns the warnings of the store, then a line for each unknown tag or type with similar ones; none in a brief frame.
pub(super) fn unknown_name_lines(head: &ReportHead, shown: FrameState<'_>) -> String {
    if shown.is_brief {
        return String::new();
    }
    let warnings = head.warnings.iter().map(|warning| format!("warning: {}\n", one_line(warning)));
    warnings.chain(head.unknown_names.iter().map(|unknown| unknown_name_line(unknown) + "\n")).collect()
}

/// Returns a line about an unknown name, without its line end.
pub(super) fn unknown_name_line(unknown: &UnknownName) -> String {
    let hint = match meant(&unknown.near) {
        // A word that is a filter by mistake.
        hint if hint.is_empty() && unknown.sort == "field" => {
            "; `qipu search` finds words in the text of notes".to_owned()
        }
        hint => hint,
    };
    format!("no note has the {} '{}'{hint}", unknown.sort, one_line(&unknown.name))
}

/// Returns the names that may be meant, as the rest of a sentence; empty without any.
pub(super) fn meant(near: &[String]) -> String {
    let near: Vec<_> = near.iter().map(|near| format!("'{near}'")).collect();
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

/// Returns the interpretation of a question on one line, with the words that were searched for if `has_words`.
pub(super) fn analysis_line(analysis: &Analysis, has_words: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (text, ids) in &analysis.references {
        parts.push(format!("{} = {}", one_line(text), joined_ids(ids, ", ")));
    }
    parts.extend(day_parts(analysis));
    parts.extend(analysis.intents.iter().map(|intent| (*intent).to_owned()));
    if has_words && !analysis.terms.is_empty() {
        parts.push(format!("words {}", joined_lines(&analysis.terms, ", ")));
    }
    parts.extend(analysis.warnings.iter().map(|warning| format!("warning: {}", one_line(warning))));
    format!("Understood: {}\n", parts.join("; "))
}

/// Returns the days and the periods of a question, each with the number of its journals.
pub(super) fn day_parts(analysis: &Analysis) -> impl Iterator<Item = String> {
    let day = |named: &DayEntry| {
        let text = one_line(&named.text);
        match named.journals {
            // A warning reports that there is none.
            0 => format!("{text} = {}", named.day),
            count => format!("{text} = {}, {}", named.day, counted(count, "journal")),
        }
    };
    let period = |period: &PeriodEntry| {
        let from = period.period.from.map_or(String::new(), |from| format!("{from} "));
        let (text, to, journals) = (one_line(&period.text), period.period.to, counted(period.journals, "journal"));
        format!("{text} = {from}to {to}, {journals}")
    };
    analysis.dates.iter().map(day).chain(analysis.periods.iter().map(period))
}

/// Returns the line of a pattern.
pub(super) fn pattern_line(pattern: &PatternEntry) -> String {
    format!("- {} {}: {} ({})\n", pattern.kind, one_line(&pattern.pattern), pattern.count, pattern.dates.join(", "))
}

/// Returns the lines of a comparison: both sides, their similarity, then their traits.
pub(super) fn comparison_lines(comparison: &ComparisonEntry) -> String {
    let side = |name: &str, side: &SideEntry| {
        let PeriodEntry { text, period, journals } = &side.period;
        let begin = period.from.map_or(String::new(), |from| from.to_string());
        let days = if period.from == Some(period.to) { begin } else { format!("{begin} to {}", period.to) };
        let (journals, blocks) = (counted(*journals, "journal"), counted(side.blocks, "block"));
        format!("{name}: {} ({days}), {journals}, {blocks}\n", one_line(text))
    };
    let traits = |name: &str, traits: &JournalTraits| {
        let all = [("tags", &traits.tags), ("keywords", &traits.keywords), ("fields", &traits.fields)];
        let line = |(sort, texts): (&str, &Vec<String>)| format!("{name} {sort}: {}\n", joined_lines(texts, ", "));
        all.into_iter().filter(|(_, texts)| !texts.is_empty()).map(line).collect::<String>()
    };
    let similarity = comparison.similarity.map_or("unknown".to_owned(), |similarity| format!("{similarity:.2}"));
    format!(
        "{}{}Similarity: {similarity}\n{}{}{}",
        side("A", &comparison.a),
        side("B", &comparison.b),
        traits("Shared", &comparison.shared),
        traits("Only A", &comparison.only_a),
        traits("Only B", &comparison.only_b)
    )
}

/// Returns a reason why nothing is shown as a line that begins with a capital.
pub(super) fn reason_line(reason: &str) -> String {
    let reason = one_line(reason);
    let mut chars = reason.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.\n", chars.as_str())
}

/// Returns the statistics of assessed notes, in a brief frame the figures alone.
pub(super) fn stats_lines(stats: &SelectionStats, shown: FrameState<'_>) -> String {
    let mut text = String::new();
    if let Some(reason) = &stats.insufficient {
        text.push_str(&reason_line(reason));
    }
    if let Some(floor) = stats.confidence_floor {
        text.push_str(&format!("Lowest confidence: {floor:.2}\n"));
    }
    if shown.is_brief {
        return text;
    }
    text.push_str(&format!("Selection: {}\n", stats.reasoning));
    if stats.has_contradictions {
        text.push_str("Contradicted by notes that are not shown (ask for contradictions to see them)\n");
    }
    if !stats.expandable.is_empty() {
        text.push_str(&format!("More available (--expand): {}\n", joined_ids(&stats.expandable, ", ")));
    }
    text
}
