//! Comparison: how the journals of two days or periods differ.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Journals;
use super::journal_texts::JournalText;
use super::question::PeriodSide;
use crate::calendar::Period;
use crate::note::Note;
use crate::report::{ComparisonEntry, JournalTraits, SideEntry};
use crate::search::StopWords;

/// The most of each sort that are told.
const MAX_TOLD: usize = 20;

/// Compares two sides.
pub fn compare(
    notes: &[Arc<Note>],
    journals: &Journals,
    sides: &(PeriodSide, PeriodSide),
    stop_words: &StopWords,
) -> ComparisonEntry {
    let (a, b) = (sides.0.span.period(), sides.1.span.period());
    let (a_gives_way, b_gives_way) = (is_longer(a, b), is_longer(b, a));
    let a_texts = SideTexts::of(notes, &without(journals, a, b, a_gives_way), stop_words);
    let b_texts = SideTexts::of(notes, &without(journals, b, a, b_gives_way), stop_words);
    let shared = |keep: fn(bool, bool) -> bool| traits(&a_texts, &b_texts, keep);
    ComparisonEntry {
        a: side(&sides.0, &a_texts),
        b: side(&sides.1, &b_texts),
        similarity: similarity(&a_texts, &b_texts),
        shared: shared(|in_a, in_b| in_a && in_b),
        only_a: shared(|in_a, in_b| in_a && !in_b),
        only_b: shared(|in_a, in_b| !in_a && in_b),
    }
}

/// Tells whether a period has more days than another.
fn is_longer(period: Period, other: Period) -> bool {
    let days = |period: Period| {
        period.from.and_then(|from| from.until(period.to).ok()).map_or(i32::MAX, |days| days.get_days())
    };
    days(period) > days(other)
}

/// Returns the journals of a period; where it gives way, those of the other side's days are left out.
fn without(journals: &Journals, period: Period, other: Period, gives_way: bool) -> Vec<usize> {
    let own = journals.within(period).iter();
    own.filter(|(day, _)| !gives_way || !other.contains(*day)).map(|(_, note)| *note).collect()
}

/// What the journals of a side hold together.
struct SideTexts {
    journals: usize,
    blocks: usize,
    tags: BTreeMap<String, usize>,
    keywords: BTreeMap<String, usize>,
    fields: BTreeMap<String, usize>,
}

impl SideTexts {
    fn of(notes: &[Arc<Note>], places: &[usize], stop_words: &StopWords) -> Self {
        let (tags, keywords, fields) = Default::default();
        let mut texts = Self { journals: places.len(), blocks: 0, tags, keywords, fields };
        for note in places.iter().filter_map(|place| notes.get(*place)) {
            let text = JournalText::of(note, stop_words);
            texts.blocks += text.blocks;
            for tag in &text.tags {
                *texts.tags.entry(tag.clone()).or_default() += 1;
                *texts.keywords.entry(tag.clone()).or_default() += 1;
            }
            for (word, count) in text.words {
                *texts.keywords.entry(word).or_default() += count;
            }
            for field in text.fields {
                *texts.fields.entry(field).or_default() += 1;
            }
        }
        texts
    }
}

fn side(side: &PeriodSide, texts: &SideTexts) -> SideEntry {
    let Period { from, to } = side.span.period();
    SideEntry { text: side.text.clone(), from, to, journals: texts.journals, blocks: texts.blocks }
}

/// Returns the share of keywords that both have, with two decimals.
fn similarity(a: &SideTexts, b: &SideTexts) -> Option<f64> {
    if a.journals == 0 || b.journals == 0 {
        return None;
    }
    let shared = a.keywords.keys().filter(|word| b.keywords.contains_key(*word)).count();
    let all = a.keywords.len() + b.keywords.len() - shared;
    Some(if all == 0 { 0.0 } else { (shared as f64 / all as f64 * 100.0).round() / 100.0 })
}

fn traits(a: &SideTexts, b: &SideTexts, keep: fn(bool, bool) -> bool) -> JournalTraits {
    JournalTraits {
        tags: chosen(&a.tags, &b.tags, keep),
        keywords: chosen(&a.keywords, &b.keywords, keep),
        fields: chosen(&a.fields, &b.fields, keep),
    }
}

/// Returns the names that are kept, the most frequent first, then a to z.
fn chosen(a: &BTreeMap<String, usize>, b: &BTreeMap<String, usize>, keep: fn(bool, bool) -> bool) -> Vec<String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let count = |name: &String| a.get(name).copied().unwrap_or_default() + b.get(name).copied().unwrap_or_default();
    let mut names: Vec<&String> =
        names.into_iter().filter(|name| keep(a.contains_key(*name), b.contains_key(*name))).collect();
    names.sort_by_key(|name| Reverse(count(name)));
    names.into_iter().take(MAX_TOLD).cloned().collect()
}
