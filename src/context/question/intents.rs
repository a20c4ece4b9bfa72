//! What a question wants done beside finding notes: comparing days or periods, looking for patterns.

use std::ops::Range;

use jiff::civil::Date;

use crate::calendar::{DateRange, Period, Separator, Tokens};

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodSide {
    /// How it was named.
    pub text: String,
    /// Its day or days.
    pub span: DateRange,
}

/// A comparison that a question asks for.
pub(super) struct ComparisonIntent {
    pub(super) first: PeriodMention,
    /// `None` where one day or period is named alone.
    pub(super) second: Option<PeriodMention>,
    /// The word behind it all.
    pub(super) end: usize,
}

/// A day or period and the words that name it.
pub(super) struct PeriodMention {
    pub(super) span: DateRange,
    pub(super) words: Range<usize>,
}

/// Words between `compare` and a day that say nothing.
const FILLERS: [&str; 12] =
    ["my", "the", "our", "all", "between", "from", "of", "for", "entries", "entry", "notes", "what"];
/// The most of them in a row.
const MAX_FILLERS: usize = 4;
/// Words between the two sides.
const JOINTS: [&str; 6] = ["with", "to", "and", "against", "versus", "vs"];

/// Reads `compare A with B`, `A versus B`, `what changed between A and B` at a word.
pub(super) fn comparison_at(
    tokens: &Tokens<'_>,
    at: usize,
    today: Date,
    previous: Option<Period>,
) -> Option<ComparisonIntent> {
    let reader = IntentReader { tokens, today };
    match tokens.word(at) {
        "compare" | "comparing" => {
            let first = reader.side(at + 1, previous)?;
            let second = reader.second(&first, &JOINTS);
            Some(asked(first, second))
        }
        "what" => {
            let has =
                matches!(tokens.word(at + 1), "has" | "have" | "s") && tokens.separator(at + 1) != Separator::Other;
            let verb = if has { at + 2 } else { at + 1 };
            let is_asked = tokens.follows(verb, "changed") && tokens.follows(verb + 1, "between");
            let first = reader.side(verb + 2, previous).filter(|_| is_asked)?;
            let second = reader.second(&first, &["and"]);
            Some(asked(first, second))
        }
        _ => {
            let (span, end) = tokens.simple_at(at, today, previous)?;
            let first = PeriodMention { span, words: at..end };
            let second = reader.second(&first, &["versus", "vs"])?;
            Some(asked(first, Some(second)))
        }
    }
}

fn asked(first: PeriodMention, second: Option<PeriodMention>) -> ComparisonIntent {
    let end = second.as_ref().map_or(first.words.end, |second| second.words.end);
    ComparisonIntent { first, second, end }
}

struct IntentReader<'a, 'b> {
    tokens: &'a Tokens<'b>,
    today: Date,
}

impl IntentReader<'_, '_> {
    /// Reads a day or period, with words before it that say nothing.
    fn side(&self, at: usize, previous: Option<Period>) -> Option<PeriodMention> {
        for start in at..=at + MAX_FILLERS {
            if let Some((span, end)) = self.tokens.simple_at(start, self.today, previous) {
                return Some(PeriodMention { span, words: start..end })
                    .filter(|found| found.span.period().from.is_some());
            }
            if !FILLERS.contains(&self.tokens.word(start)) {
                return None;
            }
        }
        None
    }

    fn second(&self, first: &PeriodMention, joints: &[&str]) -> Option<PeriodMention> {
        let mut at = first.words.end;
        at += usize::from(matches!(self.tokens.word(at), "entries" | "entry" | "notes"));
        joints.contains(&self.tokens.word(at)).then(|| self.side(at + 1, Some(first.span.period())))?
    }
}

/// Tells whether a word asks for patterns.
pub(super) fn asks_for_patterns(word: &str) -> bool {
    matches!(word, "patterns" | "recurring" | "trends" | "habits")
}

/// Tells whether a word says what patterns are looked for, where these are asked for.
pub(super) fn is_sort_of_pattern(word: &str) -> bool {
    matches!(word, "theme" | "themes" | "topic" | "topics" | "tag" | "tags" | "words")
}

/// Tells whether a word is about journals in general.
pub(super) fn is_journal_word(word: &str) -> bool {
    matches!(word, "journal" | "journals" | "journaling" | "diary")
}

/// Tells whether a word only says that something is wanted.
pub(super) fn asks(word: &str) -> bool {
    const WORDS: [&str; 26] = [
        "see",
        "show",
        "find",
        "notice",
        "identify",
        "detect",
        "spot",
        "look",
        "list",
        "give",
        "summarize",
        "summarise",
        "summary",
        "describe",
        "compare",
        "please",
        "entries",
        "entry",
        "emerge",
        "happened",
        "happen",
        "s",
        "t",
        "m",
        "re",
        "ve",
    ];
    WORDS.contains(&word)
}

/// Tells whether a word says of nothing in particular that it was done or written down.
pub(super) fn is_about_anything(word: &str) -> bool {
    const WORDS: [&str; 16] = [
        "note",
        "notes",
        "work",
        "worked",
        "working",
        "learn",
        "learned",
        "write",
        "wrote",
        "written",
        "thought",
        "thoughts",
        "done",
        "progress",
        "activity",
        "activities",
    ];
    WORDS.contains(&word) || is_journal_word(word) || asks(word)
}
