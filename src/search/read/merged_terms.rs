//! The terms of several segments as one dictionary: each term has one id in all of them. Merging the dictionaries of large
//! segments takes longer than a query, so the result is cached with the indexes.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::dictionary::Dictionary;
use crate::codec::offsets::Offsets;
use crate::codec::varint::{VarintReader, write};
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
        write(&mut bytes, self.ids.len() as u32);
        for ids in &self.ids {
            write(&mut bytes, ids.len() as u32);
            let mut next = 0_u32;
            for id in ids {
                // Most ids ascend.
                let delta = i64::from(id.0) - i64::from(next);
                write(&mut bytes, ((delta << 1) ^ (delta >> 63)) as u32);
                next = id.0.wrapping_add(1);
            }
        }
        write(&mut bytes, self.others.len() as u32);
        for (position, (segment, term)) in self.others.owners.iter().enumerate() {
            write(&mut bytes, u32::from(*segment));
            write(&mut bytes, term.0);
            write(&mut bytes, self.others.text(position).len() as u32);
        }
        self.others.sorted.iter().for_each(|position| write(&mut bytes, *position));
        bytes.extend_from_slice(self.others.texts.as_bytes());
        bytes
    }

    /// Decodes the output of [`MergedTerms::encode`]; `None` if it is not that of segments with as many terms, the first
    /// included.
    pub(super) fn decode(bytes: &[u8], term_counts: &[usize]) -> Option<Self> {
        let (first, later) = term_counts.split_first()?;
        let mut rest = VarintReader(bytes);
        if rest.read_u32()? as usize != later.len() {
            return None;
        }
        let mut ids = Vec::with_capacity(later.len());
        for count in later {
            ids.push(decode_ids(&mut rest, *count)?);
        }
        let others = decode_others(&mut rest)?;
        let end = first + others.len();
        let is_known = |ids: &Vec<TermId>| ids.iter().all(|id| id.index() < end);
        let has_owner = |(segment, term): &(u16, TermOrd)| {
            term_counts.get(usize::from(*segment)).is_some_and(|count| *segment > 0 && term.index() < *count)
        };
        (ids.iter().all(is_known) && others.owners.iter().all(has_owner)).then_some(Self { ids, others })
    }
}

fn decode_ids(rest: &mut VarintReader<'_>, count: usize) -> Option<Vec<TermId>> {
    if rest.read_u32()? as usize != count {
        return None;
    }
    let (mut ids, mut next) = (Vec::with_capacity(count), 0_u32);
    for _ in 0..count {
        let delta = rest.read_u32()?;
        let id = next.wrapping_add((delta >> 1) ^ (delta & 1).wrapping_neg());
        ids.push(TermId(id));
        next = id.wrapping_add(1);
    }
    Some(ids)
}

fn decode_others(rest: &mut VarintReader<'_>) -> Option<OtherTerms> {
    let count = rest.read_u32()? as usize;
    let mut others = OtherTerms::default();
    let mut end = 0_u32;
    for _ in 0..count {
        let (segment, term) = (u16::try_from(rest.read_u32()?).ok()?, TermOrd(rest.read_u32()?));
        end = end.checked_add(rest.read_u32()?)?;
        others.owners.push((segment, term));
        others.text_ends.push(end);
    }
    for _ in 0..count {
        others.sorted.push(rest.read_u32().filter(|position| (*position as usize) < count)?);
    }
    others.texts = std::str::from_utf8(rest.0).ok().filter(|texts| texts.len() == end as usize)?.to_owned();
    Some(others)
}
