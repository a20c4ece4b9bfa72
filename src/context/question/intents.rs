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

/// Words for a difference, in a question how one side differs from the other.
const DIFFERENCES: [&str; 7] = ["differ", "differs", "differed", "different", "change", "changed", "compare"];
/// Words between such a word and the second side.
const DIFFERENCE_JOINTS: [&str; 4] = ["from", "to", "than", "with"];
/// Auxiliary verbs of such a question.
const AUXILIARIES: [&str; 8] = ["did", "does", "do", "is", "was", "are", "were", "has"];

/// Parses `compare A with B`, `A versus B`, `difference between A and B`, `how did A differ from B` or `what changed between
/// A and B` at a token. Returns the sides; the second is `None` if only one is named. `previous` is the period named before.
pub(super) fn comparison(
    tokens: &Tokens<'_>,
    token: usize,
    today: Date,
    previous: Option<Period>,
) -> Option<(PeriodMention, Option<PeriodMention>)> {
    let sides = Sides { tokens, today };
    match tokens.word(token) {
        "compare" | "comparing" => sides.joined(token + 1, &JOINTS, previous),
        "difference" | "differences" if tokens.follows(token + 1, "between") => {
            sides.joined(token + 2, &["and"], previous).filter(|(_, second)| second.is_some())
        }
        "how" if AUXILIARIES.contains(&tokens.word(token + 1)) => {
            let first = sides.side(token + 2, previous)?;
            let verb = first.words.end;
            let is_difference = DIFFERENCES.contains(&tokens.word(verb));
            let joint = is_difference && DIFFERENCE_JOINTS.contains(&tokens.word(verb + 1));
            let second = joint.then(|| sides.side(verb + 2, Some(first.span.period()))).flatten()?;
            Some((first, Some(second)))
        }
        "what" => {
            let has_auxiliary = matches!(tokens.word(token + 1), "has" | "have" | "s")
                && tokens.separator(token + 1) != Separator::Other;
            let verb = if has_auxiliary { token + 2 } else { token + 1 };
            let is_comparison = tokens.follows(verb, "changed") && tokens.follows(verb + 1, "between");
            sides.joined(verb + 2, &["and"], previous).filter(|_| is_comparison)
        }
        _ => {
            let first = sides.bare(token, previous)?;
            let second = sides.second(&first, &["versus", "vs"])?;
            Some((first, Some(second)))
        }
    }
}

/// Parses the sides of a comparison.
struct Sides<'t, 's> {
    tokens: &'t Tokens<'s>,
    today: Date,
}

impl Sides<'_, '_> {
    /// Parses two sides with one of some words between them, or the first alone. A month or quarter without its year
    /// counts only beside another side.
    fn joined(
        &self,
        token: usize,
        joints: &[&str],
        previous: Option<Period>,
    ) -> Option<(PeriodMention, Option<PeriodMention>)> {
        let first = self.side(token, previous)?;
        let second = self.second(&first, joints);
        let is_certain = || self.tokens.simple_at(first.words.start, self.today, previous).is_some();
        (second.is_some() || is_certain()).then_some((first, second))
    }

    /// Parses the second side after one of some words.
    fn second(&self, first: &PeriodMention, joints: &[&str]) -> Option<PeriodMention> {
        let has_noun = matches!(self.tokens.word(first.words.end), "entries" | "entry" | "notes");
        let joint = first.words.end + usize::from(has_noun);
        joints.contains(&self.tokens.word(joint)).then(|| self.side(joint + 1, Some(first.span.period())))?
    }

    /// Parses a day or a period with a beginning, after at most [`MAX_FILLERS`] fillers.
    fn side(&self, token: usize, previous: Option<Period>) -> Option<PeriodMention> {
        for start in token..=token + MAX_FILLERS {
            if let Some(side) = self.bare(start, previous) {
                return Some(side).filter(|side| side.span.period().from.is_some());
            }
            if !FILLERS.contains(&self.tokens.word(start)) {
                return None;
            }
        }
        None
    }

    /// Parses a day or period at a token.
    fn bare(&self, token: usize, previous: Option<Period>) -> Option<PeriodMention> {
        let lone = || {
            let (span, end) = self.tokens.lone_period(token, self.today)?;
            Some((span, self.tokens.skip_possessive(end)))
        };
        let (span, end) = self.tokens.simple_at(token, self.today, previous).or_else(lone)?;
        Some(PeriodMention { span, words: token..end })
    }
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
