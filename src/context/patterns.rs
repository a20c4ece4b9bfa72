//! Patterns: tags, topics, openings and weekdays that recur in journals.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::civil::Date;

use super::Journals;
use super::journal_texts::{JournalText, letter_count};
use crate::calendar::Period;
use crate::report::PatternEntry;
use crate::search::StopWords;
use crate::store::NoteHandle;

/// The fewest letters of a topic.
const MIN_TOPIC: usize = 5;
/// The most days that are shown for a pattern.
const MAX_DATES: usize = 3;
/// The most patterns of each kind.
const MAX_TAGS: usize = 20;
const MAX_TOPICS: usize = 20;
const MAX_OPENINGS: usize = 10;
const MAX_WEEKDAYS: usize = 7;

/// The days on which each name occurs; a journal counts once.
type Occurrences = BTreeMap<String, Vec<Date>>;

/// Returns the patterns in the journals of a period, and the number of these journals.
pub fn patterns(
    notes: &[Arc<NoteHandle>],
    journals: &Journals,
    period: Period,
    stop_words: &StopWords,
) -> (Vec<PatternEntry>, usize) {
    let (mut tags, mut topics, mut openings, mut weekdays) =
        (Occurrences::new(), Occurrences::new(), Occurrences::new(), Occurrences::new());
    let in_period = journals.within(period);
    for (day, note) in in_period.iter().filter_map(|(day, index)| Some((*day, notes.get(index.index())?))) {
        let text = JournalText::of(note, stop_words);
        let record = |occurrences: &mut Occurrences, names: BTreeSet<String>| {
            names.into_iter().for_each(|name| occurrences.entry(name).or_default().push(day));
        };
        record(&mut tags, text.tags);
        record(&mut topics, text.words.into_keys().filter(|word| letter_count(word) >= MIN_TOPIC).collect());
        record(&mut openings, text.openings);
        record(&mut weekdays, BTreeSet::from([day.strftime("%A").to_string()]));
    }
    let count = in_period.len();
    let at_least = |tenths: usize| (count * tenths).div_ceil(10).max(2);
    let mut patterns = recurring("tag", tags, at_least(3), MAX_TAGS);
    patterns.extend(recurring("topic", topics, at_least(3), MAX_TOPICS));
    patterns.extend(recurring("opening", openings, at_least(2), MAX_OPENINGS));
    // By chance, a seventh of the journals falls on each weekday.
    patterns.extend(recurring("weekday", weekdays, (count / 7 + 1).max(2), MAX_WEEKDAYS));
    if count < 2 {
        patterns.clear();
    }
    (patterns, count)
}

/// Returns the patterns with at least `least` occurrences, by descending frequency, then alphabetically.
fn recurring(kind: &'static str, occurrences: Occurrences, least: usize, most: usize) -> Vec<PatternEntry> {
    let mut patterns: Vec<(String, Vec<Date>)> =
        occurrences.into_iter().filter(|(_, days)| days.len() >= least).collect();
    patterns.sort_by_key(|(_, days)| Reverse(days.len()));
    let entry = |(pattern, days): (String, Vec<Date>)| {
        let mut dates = days.clone();
        dates.dedup();
        let latest = dates.into_iter().rev().take(MAX_DATES);
        PatternEntry { kind, pattern, count: days.len(), dates: latest.map(|day| day.to_string()).collect() }
    };
    patterns.into_iter().take(most).map(entry).collect()
}
