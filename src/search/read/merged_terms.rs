//! The terms of several segments as one dictionary: each term has one id in all of them. Merging the dictionaries of large
//! segments takes longer than a query, so the result is cached with the indexes.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::dictionary::Dictionary;
use crate::codec::columns::{self, ColumnReader};
use crate::codec::offsets::Offsets;
use crate::codec::varint::{self, VarintReader};
use crate::search::ids::{TermId, TermOrd};

/// The ids of the terms of segments. The ids of the first segment's terms are their ordinals; those of the terms that it
/// lacks follow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MergedTerms {
    /// For each segment behind the first, the ids of its terms by their ordinals.
    pub(super) ids: Vec<Vec<TermId>>,
    /// The terms that the first segment lacks, in the order of their ids.
    pub(super) others: OtherTerms,
}

/// The terms that the first segment lacks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OtherTerms {
    /// The first segment with the term, and its ordinal there.
    owners: Vec<(u16, TermOrd)>,
    texts: String,
    text_ends: Offsets,
    /// Their positions, sorted by text.
    sorted: Vec<u32>,
}

impl OtherTerms {
    pub(super) fn len(&self) -> usize {
        self.owners.len()
    }

    pub(super) fn owner(&self, position: usize) -> Option<(u16, TermOrd)> {
        self.owners.get(position).copied()
    }

    pub(super) fn text(&self, position: usize) -> &str {
        self.text_ends.text(position, &self.texts)
    }

    /// Finds a term by its text. O(log terms).
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        let found = self.sorted.binary_search_by(|position| self.text(*position as usize).cmp(text)).ok()?;
        Some(*self.sorted.get(found)? as usize)
    }

    fn push(&mut self, text: &str, owner: (u16, TermOrd)) {
        self.owners.push(owner);
        self.texts.push_str(text);
        self.text_ends.push(self.texts.len() as u32);
    }

    fn sort(&mut self) {
        let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
        sorted.sort_unstable_by(|a, b| self.text(*a as usize).cmp(self.text(*b as usize)));
        self.sorted = sorted;
    }
}

impl MergedTerms {
    /// Merges dictionaries with texts. O(terms).
    pub(super) fn of(dictionaries: &[&Dictionary]) -> Self {
        let Some((first, later)) = dictionaries.split_first() else { return Self::default() };
        let in_first: Vec<Vec<Option<TermOrd>>> = later.par_iter().map(|other| first.find_all(other)).collect();
        let mut merged = Self::default();
        let mut known: HashMap<&str, TermId, RandomState> = HashMap::default();
        for ((ordinal, dictionary), in_first) in (1..).zip(later).zip(in_first) {
            let ids = TermOrd::all(in_first.len()).zip(in_first).map(|(term, in_first)| {
                let new_id = TermId((first.term_count() + merged.others.len()) as u32);
                let text = || dictionary.entry(term).text;
                match in_first {
                    Some(term) => TermId(term.0),
                    None => *known.entry(text()).or_insert_with(|| {
                        merged.others.push(text(), (ordinal, term));
                        new_id
                    }),
                }
            });
            let ids = ids.collect();
            merged.ids.push(ids);
        }
        merged.others.sort();
        merged
    }

    /// Adds a segment with few terms behind the others.
    pub(super) fn add(&mut self, first: &Dictionary, dictionary: &Dictionary) {
        let ordinal = self.ids.len() as u16 + 1;
        let known = self.others.len();
        let ids = TermOrd::all(dictionary.term_count()).zip(first.find_all(dictionary)).map(|(term, in_first)| {
            let text = dictionary.entry(term).text;
            let other = || self.others.find(text).map(|position| TermId((first.term_count() + position) as u32));
            in_first.map(|term| TermId(term.0)).or_else(other).ok_or((text, term))
        });
        let found: Vec<Result<TermId, (&str, TermOrd)>> = ids.collect();
        let mut own = Vec::with_capacity(found.len());
        for id in found {
            own.push(id.unwrap_or_else(|(text, term)| {
                self.others.push(text, (ordinal, term));
                TermId((first.term_count() + self.others.len() - 1) as u32)
            }));
        }
        if self.others.len() > known {
            self.others.sort();
        }
        self.ids.push(own);
    }

    /// Encodes the merged terms for the cache.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for ids in &self.ids {
            columns::write(&mut bytes, &ids.iter().map(|id| id.0).collect::<Vec<_>>());
        }
        let OtherTerms { owners, texts, text_ends, sorted } = &self.others;
        varint::write(&mut bytes, owners.len() as u32);
        columns::write(&mut bytes, &owners.iter().map(|(segment, _)| u32::from(*segment)).collect::<Vec<_>>());
        columns::write(&mut bytes, &owners.iter().map(|(_, term)| term.0).collect::<Vec<_>>());
        columns::write(&mut bytes, text_ends.ends());
        columns::write(&mut bytes, sorted);
        bytes.extend_from_slice(texts.as_bytes());
        bytes
    }

    /// Decodes the output of [`MergedTerms::encode`]; `None` if it is not that of segments with as many terms, the first
    /// included.
    pub(super) fn decode(bytes: &[u8], term_counts: &[usize]) -> Option<Self> {
        let (first, later) = term_counts.split_first()?;
        let mut rest = ColumnReader(bytes);
        let columns = later.iter().map(|count| rest.read(*count)).collect::<Option<Vec<_>>>()?;
        let others = decode_others(rest)?;
        let end = (first + others.len()) as u32;
        let is_known = |ids: &Vec<u32>| ids.iter().all(|id| *id < end);
        let has_owner = |(segment, term): &(u16, TermOrd)| {
            term_counts.get(usize::from(*segment)).is_some_and(|count| *segment > 0 && term.index() < *count)
        };
        if !(columns.iter().all(is_known) && others.owners.iter().all(has_owner)) {
            return None;
        }
        let ids = columns.into_iter().map(|ids| ids.into_iter().map(TermId).collect());
        Some(Self { ids: ids.collect(), others })
    }
}

fn decode_others(columns: ColumnReader<'_>) -> Option<OtherTerms> {
    let mut rest = VarintReader(columns.0);
    let count = rest.read_u32()? as usize;
    let mut columns = ColumnReader(rest.0);
    let (segments, terms) = (columns.read(count)?, columns.read(count)?);
    let (ends, sorted) = (columns.read(count)?, columns.read(count)?);
    let texts = std::str::from_utf8(columns.0).ok()?;
    let is_valid = ends.is_sorted()
        && ends.last().copied().unwrap_or_default() as usize == texts.len()
        && sorted.iter().all(|position| (*position as usize) < count);
    let owners = segments.iter().zip(terms).map(|(segment, term)| Some((u16::try_from(*segment).ok()?, TermOrd(term))));
    let owners = owners.collect::<Option<Vec<_>>>().filter(|_| is_valid)?;
    Some(OtherTerms { owners, texts: texts.to_owned(), text_ends: Offsets::from_ends(ends), sorted })
}
