//! The intents of a question besides finding notes: comparing days or periods, and looking for patterns.

use std::ops::Range;

use jiff::civil::Date;

use crate::calendar::{DateRange, Period, Separator, Tokens};

/// A day or period and the tokens that name it.
pub(super) struct PeriodMention {
    pub(super) span: DateRange,
    pub(super) words: Range<usize>,
}

/// Words without content between `compare` and a day.
const FILLERS: [&str; 12] =
    ["my", "the", "our", "all", "between", "from", "of", "for", "entries", "entry", "notes", "what"];
/// The most of them in a row.
const MAX_FILLERS: usize = 4;
/// Words between the two sides.
const JOINTS: [&str; 6] = ["with", "to", "and", "against", "versus", "vs"];

/// Parses `compare A with B`, `A versus B` or `what changed between A and B` at a token. Returns the sides; the second is
/// `None` if only one is named. `previous` is the period named before.
pub(super) fn comparison(
    tokens: &Tokens<'_>,
    token: usize,
    today: Date,
    previous: Option<Period>,
) -> Option<(PeriodMention, Option<PeriodMention>)> {
    let side = |token: usize, previous: Option<Period>| side(tokens, token, today, previous);
    let second = |first: &PeriodMention, joints: &[&str]| {
        let has_noun = matches!(tokens.word(first.words.end), "entries" | "entry" | "notes");
        let joint = first.words.end + usize::from(has_noun);
        joints.contains(&tokens.word(joint)).then(|| side(joint + 1, Some(first.span.period())))?
    };
    match tokens.word(token) {
        "compare" | "comparing" => {
            let first = side(token + 1, previous)?;
            let second = second(&first, &JOINTS);
            Some((first, second))
        }
        "what" => {
            let has_auxiliary = matches!(tokens.word(token + 1), "has" | "have" | "s")
                && tokens.separator(token + 1) != Separator::Other;
            let verb = if has_auxiliary { token + 2 } else { token + 1 };
            let is_comparison = tokens.follows(verb, "changed") && tokens.follows(verb + 1, "between");
            let first = side(verb + 2, previous).filter(|_| is_comparison)?;
            let second = second(&first, &["and"]);
            Some((first, second))
        }
        _ => {
            let (span, end) = tokens.simple_at(token, today, previous)?;
            let first = PeriodMention { span, words: token..end };
            let second = second(&first, &["versus", "vs"])?;
            Some((first, Some(second)))
        }
    }
}

/// Parses a day or a period with a beginning, after at most [`MAX_FILLERS`] fillers.
fn side(tokens: &Tokens<'_>, token: usize, today: Date, previous: Option<Period>) -> Option<PeriodMention> {
    for start in token..=token + MAX_FILLERS {
        if let Some((span, end)) = tokens.simple_at(start, today, previous) {
            let has_beginning = span.period().from.is_some();
            return has_beginning.then_some(PeriodMention { span, words: start..end });
        }
        if !FILLERS.contains(&tokens.word(start)) {
            return None;
        }
    }
    None
}

/// Words that ask for patterns.
pub(super) const PATTERN_WORDS: [&str; 4] = ["patterns", "recurring", "trends", "habits"];
/// Words for a kind of pattern, in a question that asks for patterns.
pub(super) const PATTERN_KINDS: [&str; 7] = ["theme", "themes", "topic", "topics", "tag", "tags", "words"];
/// Words that mean journals in general.
pub(super) const JOURNAL_WORDS: [&str; 4] = ["journal", "journals", "journaling", "diary"];
/// Words that only express a request.
pub(super) const REQUEST_WORDS: [&str; 26] = [
    "see", "show", "find", "notice", "identify", "detect", "spot", "look", "list", "give", "summarize", "summarise",
    "summary", "describe", "compare", "please", "entries", "entry", "emerge", "happened", "happen", "s", "t", "m",
    "re", "ve",
];
/// Words that mean notes or activities in general, and no topic.
pub(super) const GENERIC_WORDS: [&str; 16] = [
    "note", "notes", "work", "worked", "working", "learn", "learned", "write", "wrote", "written", "thought",
    "thoughts", "done", "progress", "activity", "activities",
];
