//! Recognizes phrases that mean a period but leave open which one, so that a question can say that it did not understand
//! them: `since January`, `in 2024`, `end of February`, `last weekend`, `a few days ago`.

use jiff::civil::Date;

use super::lexer::{Separator, Tokens};

/// Words before a month or year that mean a period of it.
const LEADS: [&str; 11] =
    ["in", "since", "before", "after", "until", "from", "between", "during", "early", "mid", "late"];
/// Those before a weekday; `since Monday` is understood.
const WEEKDAY_LEADS: [&str; 4] = ["until", "from", "between", "during"];
/// Words for a part of a month or year.
const PARTS: [&str; 9] = ["end", "start", "beginning", "middle", "rest", "half", "third", "quarter", "week"];
/// Words before a weekend or a weekday.
const DETERMINERS: [&str; 5] = ["this", "last", "past", "previous", "next"];

impl Tokens<'_> {
    /// Recognizes words that mean a period but leave open which one. Returns the index of the token after them.
    pub(crate) fn vague_at(&self, index: usize, today: Date) -> Option<usize> {
        let end = self
            .vague_after_lead(index)
            .or_else(|| self.vague_part(index))
            .or_else(|| self.vague_determined(index))
            .or_else(|| self.vague_distance(index))?;
        // The last word may begin a date that is understood: `since March 5`.
        (self.single_at(end - 1, today, None).is_none()).then_some(end)
    }

    /// Recognizes `since January`, `in 2024`, `until Friday`.
    fn vague_after_lead(&self, index: usize) -> Option<usize> {
        let is_close = self.separator(index + 1) == Separator::Space && !self.is_joined(index + 2);
        let is_period = LEADS.contains(&self.word(index)) && self.may_be_period(index + 1);
        let is_day = WEEKDAY_LEADS.contains(&self.word(index)) && self.is_weekday(index + 1);
        (is_close && (is_period || is_day)).then_some(index + 2)
    }

    /// Recognizes `end of February`, `beginning of the year`.
    fn vague_part(&self, index: usize) -> Option<usize> {
        let is_part = PARTS.contains(&self.word(index)) && self.follows(index + 1, "of");
        let is_close = self.separator(index + 2) == Separator::Space && !self.is_joined(index + 3);
        (is_part && is_close && self.may_be_period(index + 2)).then_some(index + 3)
    }

    /// Recognizes `last weekend`, `last night`, `next week`, `this Friday`.
    fn vague_determined(&self, index: usize) -> Option<usize> {
        let is_close = self.separator(index + 1) == Separator::Space && !self.is_joined(index + 2);
        if !DETERMINERS.contains(&self.word(index)) || !is_close {
            return None;
        }
        let is_next = self.word(index) == "next";
        let is_meant = match self.word(index + 1) {
            "weekend" | "night" => true,
            "week" | "month" | "quarter" | "year" => is_next,
            _ => self.is_weekday(index + 1),
        };
        is_meant.then_some(index + 2)
    }

    /// Recognizes `2 years ago`, `a few days ago`, with the words before the unit that count it.
    fn vague_distance(&self, index: usize) -> Option<usize> {
        let counts = |index: usize| matches!(self.word(index), "few" | "couple" | "some" | "several" | "of" | "many");
        let is_counted = self.word(index).bytes().all(|byte| byte.is_ascii_digit()) || counts(index);
        let words = if is_counted { (0..3).take_while(|more| counts(index + more)).count().max(1) } else { 0 };
        let unit = index + words;
        (self.unit_at(unit).is_some() && self.follows(unit + 1, "ago")).then_some(unit + 2)
    }

    fn may_be_period(&self, index: usize) -> bool {
        self.is_year(index) || self.is_month_name(index) || self.is_quarter(index)
    }
}
