//! Comparison of the journals of two days or periods.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Journals;
use super::journal_texts::JournalText;
use crate::calendar::Period;
use crate::report::{ComparisonEntry, JournalTraits, PeriodEntry, SideEntry};
use crate::request::NamedSpan;
use crate::search::StopWords;
use crate::store::{NoteHandle, NoteIdx};

/// The most tags, keywords and fields that are shown for each side.
const MAX_TRAITS: usize = 20;

/// Compares the journals of two sides.
pub fn compare(
    notes: &[Arc<NoteHandle>],
    journals: &Journals,
    [side_a, side_b]: &[NamedSpan; 2],
    stop_words: &StopWords,
) -> ComparisonEntry {
    let (a, b) = (side_a.span.period(), side_b.span.period());
    let a_texts = SideTexts::of(notes, &journals_of(journals, a, b), stop_words);
    let b_texts = SideTexts::of(notes, &journals_of(journals, b, a), stop_words);
    let traits_of = |is_selected: fn(bool, bool) -> bool| JournalTraits {
        tags: selected_names(&a_texts.tags, &b_texts.tags, is_selected),
        keywords: selected_names(&a_texts.keywords, &b_texts.keywords, is_selected),
        fields: selected_names(&a_texts.fields, &b_texts.fields, is_selected),
    };
    ComparisonEntry {
        a: side(side_a, &a_texts),
        b: side(side_b, &b_texts),
        similarity: similarity(&a_texts, &b_texts),
        shared: traits_of(|in_a, in_b| in_a && in_b),
        only_a: traits_of(|in_a, in_b| in_a && !in_b),
        only_b: traits_of(|in_a, in_b| !in_a && in_b),
    }
}

fn is_longer(period: Period, other: Period) -> bool {
    let days = |period: Period| {
        period.from.and_then(|from| from.until(period.to).ok()).map_or(i32::MAX, |days| days.get_days())
    };
    days(period) > days(other)
}

/// Returns the journals of a period; of the longer one without those of the days of the other.
fn journals_of(journals: &Journals, period: Period, other: Period) -> Vec<NoteIdx> {
    let (own, is_longer) = (journals.within(period).iter(), is_longer(period, other));
    own.filter(|(day, _)| !is_longer || !other.contains(*day)).map(|(_, note)| *note).collect()
}

/// The combined content of the journals of one side.
#[derive(Default)]
struct SideTexts {
    journals: usize,
    blocks: usize,
    tags: BTreeMap<String, usize>,
    keywords: BTreeMap<String, usize>,
    fields: BTreeMap<String, usize>,
}

impl SideTexts {
    fn of(notes: &[Arc<NoteHandle>], indices: &[NoteIdx], stop_words: &StopWords) -> Self {
        let mut texts = Self { journals: indices.len(), ..Self::default() };
        for note in indices.iter().filter_map(|index| notes.get(index.index())) {
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

fn side(side: &NamedSpan, texts: &SideTexts) -> SideEntry {
    let period = PeriodEntry { text: side.text.clone(), period: side.span.period(), journals: texts.journals };
    SideEntry { period, blocks: texts.blocks }
}

/// Returns the Jaccard similarity of the keywords, rounded to two decimals; `None` if a side has no journals.
fn similarity(a: &SideTexts, b: &SideTexts) -> Option<f64> {
    if a.journals == 0 || b.journals == 0 {
        return None;
    }
    let shared = a.keywords.keys().filter(|word| b.keywords.contains_key(*word)).count();
    let all = a.keywords.len() + b.keywords.len() - shared;
    Some(if all == 0 { 0.0 } else { (shared as f64 / all as f64 * 100.0).round() / 100.0 })
}

/// Returns the selected names by descending frequency, then alphabetically.
fn selected_names(
    a: &BTreeMap<String, usize>,
    b: &BTreeMap<String, usize>,
    is_selected: fn(bool, bool) -> bool,
) -> Vec<String> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let count = |name: &String| a.get(name).copied().unwrap_or_default() + b.get(name).copied().unwrap_or_default();
    let mut names: Vec<&String> =
        names.into_iter().filter(|name| is_selected(a.contains_key(*name), b.contains_key(*name))).collect();
    names.sort_by_key(|name| Reverse(count(name)));
    names.into_iter().take(MAX_TRAITS).cloned().collect()
}
