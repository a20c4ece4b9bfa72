//! The parser of questions.

use std::collections::HashSet;
use std::ops::Range;

use jiff::civil::Date;

use super::intents::{self, JOURNAL_WORDS, PATTERN_KINDS, PATTERN_WORDS, PeriodMention, REQUEST_WORDS};
use super::references::references;
use super::{FavouredDays, Question, QuestionContext};
use crate::calendar::{DatePhrase, DateRange, Tokens};
use crate::escape::abbreviated;
use crate::note::Language;
use crate::report::COMPARISON;
use crate::request::NamedSpan;
use crate::search::StopWords;

/// The most date phrases that are recognised in one question, as a bound on its work.
const MAX_PHRASES: usize = 64;
/// The most terms of a question.
const MAX_TERMS: usize = 64;

pub(super) struct QuestionParser<'a, 'c, 'n> {
    text: &'a str,
    tokens: Tokens<'a>,
    today: Date,
    context: &'c mut QuestionContext<'n>,
    /// The byte ranges of the names of notes, sorted by their start.
    names: Vec<Range<usize>>,
    /// The byte ranges of names in brackets that no note has.
    unresolved: Vec<Range<usize>>,
    /// For each token, whether it is understood and thus not searched for.
    is_understood: Vec<bool>,
    /// The number of date phrases so far.
    phrases: usize,
    question: Question,
}

impl<'a, 'c, 'n> QuestionParser<'a, 'c, 'n> {
    pub(super) fn new(text: &'a str, context: &'c mut QuestionContext<'n>) -> Self {
        let (today, notes, tokens) = (context.today, context.notes, Tokens::new(text));
        let references = references(text, &tokens, today, notes, &mut || context.journals());
        let is_not_searched = |start: usize| references.not_searched.iter().any(|range| range.contains(&start));
        let is_understood =
            (0..tokens.len()).map(|token| is_not_searched(tokens.range(token, token + 1).start)).collect();
        let question = Question { references: references.found, warnings: references.warnings, ..Question::default() };
        let (names, unresolved) = (references.ranges, references.unresolved);
        Self { text, tokens, today, context, names, unresolved, is_understood, phrases: 0, question }
    }

    pub(super) fn parse(mut self) -> Question {
        self.parse_dates();
        self.parse_patterns();
        self.finish()
    }

    /// Parses days, periods and comparisons from left to right.
    fn parse_dates(&mut self) {
        let (mut token, mut previous) = (0, None);
        while token < self.tokens.len() && self.phrases < MAX_PHRASES {
            if self.is_in_name(token) {
                token += 1;
                continue;
            }
            if let Some((first, second)) = intents::comparison(&self.tokens, token, self.today, previous) {
                let last = second.as_ref().unwrap_or(&first);
                let end = last.words.end;
                self.phrases += 1;
                previous = Some(last.span.period());
                self.mark_understood(token..end);
                self.add_comparison(&first, second.as_ref());
                token = end;
                continue;
            }
            let Some(phrase) = self.tokens.phrase_at(token, self.today, previous) else {
                token = self.skip_vague(token);
                continue;
            };
            self.phrases += 1;
            self.question.warnings.extend(phrase.warning.clone());
            match phrase.range {
                Some(span) => {
                    previous = Some(span.period());
                    self.add_date_range(token, &phrase, span);
                }
                // The warning is enough: the digits of an impossible date are not searched for.
                None => self.mark_understood(token..phrase.end),
            }
            token = phrase.end.max(token + 1);
        }
    }

    /// Skips a token that begins no date phrase, or the tokens of a phrase that is probably meant as a period, with a
    /// warning. Returns the next token.
    fn skip_vague(&mut self, token: usize) -> usize {
        let Some(end) = self.tokens.vague_at(token, self.today) else { return token + 1 };
        self.phrases += 1;
        let text = abbreviated(self.source(token..end));
        self.question.warnings.push(format!("`{text}` can't be read as a period; it is searched for as words"));
        end
    }

    fn is_in_name(&self, token: usize) -> bool {
        let start = self.tokens.range(token, token + 1).start;
        let count = self.names.partition_point(|range| range.start <= start);
        count.checked_sub(1).and_then(|last| self.names.get(last)).is_some_and(|range| start < range.end)
    }

    fn add_date_range(&mut self, token: usize, phrase: &DatePhrase, span: DateRange) {
        let words = token..phrase.end;
        let text = self.source(words.clone()).to_owned();
        self.mark_understood(words.clone());
        if !self.context.add_date_range(&mut self.question, &text, span) {
            let is_yearly = words.clone().any(|word| self.tokens.is_month_name(word))
                && !words.clone().any(|word| self.tokens.is_year(word));
            self.question.favoured.push(FavouredDays { period: span.period(), is_yearly });
        }
    }

    fn add_comparison(&mut self, first: &PeriodMention, second: Option<&PeriodMention>) {
        let side = |mention: &PeriodMention| NamedSpan {
            text: self.source(mention.words.clone()).to_owned(),
            span: mention.span,
        };
        let today = NamedSpan { text: "today".to_owned(), span: DateRange::Day(self.today) };
        let sides = [side(first), second.map_or(today, side)];
        for side in &sides {
            self.context.add_date_range(&mut self.question, &side.text, side.span);
        }
        self.question.add_intent(COMPARISON);
        self.question.comparison.get_or_insert(sides);
    }

    /// Returns the source of tokens, with the text between them.
    fn source(&self, tokens: Range<usize>) -> &str {
        self.tokens.text_between(tokens.start, tokens.end)
    }

    fn mark_understood(&mut self, tokens: Range<usize>) {
        self.is_understood.get_mut(tokens).into_iter().flatten().for_each(|is_understood| *is_understood = true);
    }

    fn is_understood(&self, token: usize) -> bool {
        self.is_understood.get(token).copied().unwrap_or_default()
    }

    /// Recognises the intent to look for patterns: a word for patterns in a question about journals, about days, or without
    /// any topic. `flow patterns over wings` is a topic.
    fn parse_patterns(&mut self) {
        let is_free = |token: &usize| !self.is_understood(*token) && !self.is_in_name(*token);
        let free: Vec<usize> = (0..self.tokens.len()).filter(is_free).collect();
        if !free.iter().any(|token| PATTERN_WORDS.contains(&self.tokens.word(*token))) {
            return;
        }
        let stop_words = StopWords::new(Language::English);
        let is_of_intent = |word: &str| PATTERN_WORDS.contains(&word) || PATTERN_KINDS.contains(&word);
        let has_no_content = |word: &str| stop_words.has(word) || REQUEST_WORDS.contains(&word) || is_of_intent(word);
        let is_about_days = !self.question.dates.is_empty()
            || !self.question.periods.is_empty()
            || free.iter().any(|token| JOURNAL_WORDS.contains(&self.tokens.word(*token)));
        if !is_about_days && !free.iter().all(|token| has_no_content(self.tokens.word(*token))) {
            return;
        }
        for token in free {
            let word = self.tokens.word(token);
            if is_of_intent(word) || JOURNAL_WORDS.contains(&word) {
                self.mark_understood(token..token + 1);
            }
        }
        self.question.add_patterns(self.today);
    }

    /// Sets the terms and the text to search for.
    fn finish(mut self) -> Question {
        let stop_words = StopWords::new(self.context.language);
        let has_understood = self.is_understood.contains(&true);
        let is_searched = |token: usize| {
            let is_request = has_understood && REQUEST_WORDS.contains(&self.tokens.word(token));
            !self.is_understood(token) && !is_request
        };
        let is_content = |word: &&str| !stop_words.has(word) && *word != "s";
        let mut seen = HashSet::new();
        let searched = (0..self.tokens.len()).filter(|token| is_searched(*token)).map(|token| self.tokens.word(token));
        let fallback = self.fallback(&is_searched, &is_content);
        let terms = searched.filter(is_content).filter(|word| seen.insert(*word));
        let terms: Vec<String> = terms.take(MAX_TERMS).map(str::to_owned).collect();
        let rest = if !has_understood {
            Some(self.text.to_owned())
        } else if terms.is_empty() {
            None
        } else {
            Some(self.text_of(is_searched))
        };
        self.question.terms = terms;
        self.question.rest = rest;
        self.question.fallback = fallback;
        self.question
    }

    /// Returns the text to search for without the words of unresolved names; `None` if there are none, or nothing else has
    /// content.
    fn fallback(&self, is_searched: &dyn Fn(usize) -> bool, is_content: &dyn Fn(&&str) -> bool) -> Option<String> {
        let is_resolved = |token: usize| {
            let start = self.tokens.range(token, token + 1).start;
            !self.unresolved.iter().any(|range| range.contains(&start))
        };
        let is_kept = |token: usize| is_searched(token) && is_resolved(token);
        let mut kept = (0..self.tokens.len()).filter(|token| is_kept(*token)).map(|token| self.tokens.word(token));
        let has_content = !self.unresolved.is_empty() && kept.any(|word| is_content(&word));
        has_content.then(|| self.text_of(is_kept))
    }

    /// Returns the text without the tokens that are not searched for; the text between two of them is omitted too.
    fn text_of(&self, is_searched: impl Fn(usize) -> bool) -> String {
        let mut rest = String::new();
        let mut offset = 0;
        let mut was_searched = true;
        for token in 0..self.tokens.len() {
            let range = self.tokens.range(token, token + 1);
            let is_searched = is_searched(token);
            let between = self.text.get(offset..range.start).unwrap_or_default();
            if was_searched && is_searched {
                rest.push_str(self.text.get(offset..range.end).unwrap_or_default());
            } else if is_searched {
                // Signs before a word, such as that of a tag, belong to it.
                let signs =
                    between.rfind(char::is_whitespace).and_then(|space| between.get(space..)).unwrap_or_default();
                rest.push_str(if signs.is_empty() { " " } else { signs });
                rest.push_str(self.text.get(range.clone()).unwrap_or_default());
            } else if was_searched {
                let signs =
                    between.find(char::is_whitespace).and_then(|space| between.get(..space)).unwrap_or_default();
                rest.push_str(signs);
            }
            was_searched = is_searched;
            offset = range.end;
        }
        if was_searched {
            rest.push_str(self.text.get(offset..).unwrap_or_default());
        }
        rest.trim().to_owned()
    }
}
