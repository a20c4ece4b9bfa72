//! The order in which passages are tried, the same for all budgets.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;

use super::document::DocumentBuilder;
use super::selector::Proposal;
use crate::report::Tier;
use crate::report::{NoteEntry, Passages};

/// The least worth of a fragment that is shown, as a share of the best one. On questions about documentation it saves 700 of
/// 4,000 characters, and no passage that answers.
const STOP_SHARE: f64 = 0.44;
/// The same for a [talk](Passages::is_talk), whose many turns match a little each. With 0.5, the evidence that answers of 4,000
/// characters show falls from 0.84 to 0.76.
const TALK_STOP_SHARE: f64 = 0.15;
/// The characters of an answer to which these shares apply. In a larger one they fall as it grows: a reader who wants so much
/// wants more than the answer.
const STOP_CHARS: usize = 4_000;
/// The characters of an answer before which documents have no share beside commits: with one, answers of 2,000 characters lose
/// the reason of 3 of 20 questions.
const DOCUMENTS_FROM: usize = 2_000;
/// The most attempts: the time to fit grows with their number times that of the entries.
const MAX_ATTEMPTS: usize = 1_000;
/// The words in a row by which texts are compared, and the share of the rows of a passage from which on another passage that
/// has them makes it redundant.
const SHINGLE: usize = 3;
const DUPLICATE_SHARE: f64 = 0.9;

/// A fragment of an entry, or the whole of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct PassageAttempt {
    /// The rank of the entry.
    pub(super) rank: usize,
    /// The index of the fragment; `None` for the whole.
    pub(super) fragment: Option<usize>,
    /// The characters of the smallest answer in which it is tried.
    pub(super) least_chars: usize,
}

impl PassageAttempt {
    fn new(rank: usize, fragment: Option<usize>) -> Self {
        Self { rank, fragment, least_chars: 0 }
    }
}

/// Returns the attempts of an answer of so many characters in their order: the best one of the first note and of each note that
/// goes first, then all others by worth; then what an answer without any word of the question shows. `order`: the proposals by
/// rank.
pub(super) fn attempts(document: &DocumentBuilder<'_>, order: &[Proposal], chars: usize) -> Vec<PassageAttempt> {
    let notes: Vec<(usize, &NoteEntry, Option<&Passages>)> = order
        .iter()
        .enumerate()
        .filter_map(|(rank, proposal)| {
            let note = document.note(proposal.entry)?;
            Some((rank, note, note.passages.get().map(AsRef::as_ref)))
        })
        .collect();
    let with_passages = || notes.iter().filter_map(|(rank, _, passages)| Some((*rank, (*passages)?)));
    // The best commit waits for own notes that answer.
    let has_commits = notes.iter().any(|(_, note, _)| is_commit(note));
    let first = with_passages().enumerate();
    let first = first.filter(|(index, (_, passages))| (*index == 0 && !has_commits) || passages.is_first);
    let first = first.filter_map(|(_, (rank, passages))| best_of(rank, passages));
    let show = document.report.head.show;
    let (has_matches, by_worth) = by_worth(with_passages(), show.has_only_matches);
    let is_asked_for = |passages: &Passages| (!has_matches || passages.is_first) && !has_worth(passages);
    let beginnings = with_passages().filter(|(_, passages)| !show.has_only_matches && is_asked_for(passages));
    let beginnings = beginnings.flat_map(|(rank, passages)| {
        (0..passages.fragments.len()).map(move |index| PassageAttempt::new(rank, Some(index)))
    });
    let is_alone = |passages: &Option<&Passages>| passages.is_none() && !has_matches && !show.has_only_matches;
    let without = notes.iter().filter(|(.., passages)| is_alone(passages));
    let without = without.map(|(rank, ..)| PassageAttempt::new(*rank, None));
    let mut seen = HashSet::new();
    let by_worth = in_shares(by_worth.collect(), &notes);
    let by_worth = by_worth.into_iter().filter(|attempt| attempt.least_chars <= chars);
    let all = first.chain(by_worth).chain(beginnings).chain(without);
    let all = all.filter(|attempt| seen.insert((attempt.rank, attempt.fragment)));
    without_duplicates(all.take(MAX_ATTEMPTS).collect(), &notes)
}

/// Whether an entry is a commit.
pub(super) fn is_commit(entry: &NoteEntry) -> bool {
    entry.note.is_commit()
}

/// Returns the most valuable attempt of a note.
fn best_of(rank: usize, passages: &Passages) -> Option<PassageAttempt> {
    let fragment = if passages.whole.is_some() { None } else { Some(*passages.by_worth().first()?) };
    Some(PassageAttempt::new(rank, fragment))
}

fn has_worth(passages: &Passages) -> bool {
    passages.whole.is_some() || passages.worth.iter().any(|worth| *worth > 0.0)
}

/// Returns whether anything is worth something, and what is worth something, the best first: those of later notes by note, so
/// that it makes no difference how many of these there are; last what only larger answers have.
fn by_worth<'a>(
    notes: impl Iterator<Item = (usize, &'a Passages)>,
    is_hook: bool,
) -> (bool, impl Iterator<Item = PassageAttempt>) {
    let notes: Vec<(usize, &Passages)> = notes.collect();
    let talks: HashSet<usize> = notes.iter().filter(|(_, passages)| passages.is_talk).map(|(rank, _)| *rank).collect();
    let mut all: Vec<(bool, f64, PassageAttempt)> =
        notes.into_iter().flat_map(|(rank, passages)| with_worth(rank, passages)).collect();
    let early = all.iter().filter(|(is_late, ..)| !is_late);
    let most = early.map(|(_, worth, _)| *worth).fold(0.0, f64::max);
    for (_, worth, attempt) in &mut all {
        let is_talk = talks.contains(&attempt.rank) && !is_hook;
        let enough = most * if is_talk { TALK_STOP_SHARE } else { STOP_SHARE };
        if *worth < enough {
            attempt.least_chars = (STOP_CHARS as f64 * enough / *worth).ceil() as usize;
        }
    }
    all.sort_by(|(is_late, worth, attempt), (other_is_late, other_worth, other)| {
        let by_rank = attempt.rank.cmp(&other.rank);
        let by_note = if *is_late && *other_is_late { by_rank } else { Ordering::Equal };
        let by_place = by_rank.then(attempt.fragment.cmp(&other.fragment));
        let by_size = attempt.least_chars.cmp(&other.least_chars);
        let by_lateness = is_late.cmp(other_is_late).then(by_note);
        by_size.then(by_lateness).then(other_worth.total_cmp(worth)).then(by_place)
    });
    (most > 0.0, all.into_iter().map(|(.., attempt)| attempt))
}

/// Lets own notes, and documents, keep a share of each answer in which commits take part: what the project's people wrote is
/// tried before commits, until it has half of the text so far, and all of it before commits that match weakly; behind the first [`DOCUMENTS_FROM`] characters, documents before
/// commits, until they have a third. Otherwise the order stays. What only larger answers have has no share. It is the same
/// order for all budgets.
fn in_shares(attempts: Vec<PassageAttempt>, notes: &[(usize, &NoteEntry, Option<&Passages>)]) -> Vec<PassageAttempt> {
    let of_rank: HashMap<usize, (Tier, &NoteEntry, Option<&Passages>)> =
        notes.iter().map(|(rank, note, passages)| (*rank, (note.note.tier(), *note, *passages))).collect();
    let tier = |attempt: &PassageAttempt| of_rank.get(&attempt.rank).map_or(Tier::Own, |(tier, ..)| *tier);
    if !attempts.iter().any(|attempt| tier(attempt) == Tier::History) {
        return attempts;
    }
    let chars = |attempt: &PassageAttempt| {
        let Some((_, note, passages)) = of_rank.get(&attempt.rank) else { return 0 };
        let of_fragment = |index: usize| Some((*passages)?.fragments.get(index)?.range.len());
        attempt.fragment.and_then(of_fragment).unwrap_or_else(|| note.note.body_chars())
    };
    let (mut own, mut documents, mut rest) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
    for (place, attempt) in attempts.into_iter().enumerate() {
        match tier(&attempt) {
            Tier::Own if attempt.least_chars == 0 => own.push_back((place, attempt)),
            Tier::Documents if attempt.least_chars == 0 => documents.push_back((place, attempt)),
            _ => rest.push_back((place, attempt)),
        }
    }
    let is_weak = notes.iter().any(|(.., passages)| passages.is_some_and(|passages| passages.is_weak));
    let (mut all, mut of_own, mut of_documents, mut so_far) = (Vec::new(), 0, 0, 0);
    loop {
        let first = [&own, &documents, &rest].into_iter().filter_map(|queue| Some(queue.front()?.0)).min();
        let Some(first) = first else { return all };
        let is_first =
            |queue: &VecDeque<(usize, PassageAttempt)>| queue.front().is_some_and(|(place, _)| *place == first);
        let takes_own = !own.is_empty() && (is_weak || 2 * of_own <= so_far || is_first(&own));
        let has_share = so_far > DOCUMENTS_FROM && 3 * of_documents <= so_far - DOCUMENTS_FROM;
        let takes_documents = !documents.is_empty() && (has_share || is_first(&documents));
        let next = if takes_own {
            own.pop_front()
        } else if takes_documents {
            documents.pop_front()
        } else {
            rest.pop_front()
        };
        let Some((_, attempt)) = next else { return all };
        let len = chars(&attempt);
        so_far += len;
        of_own += if takes_own { len } else { 0 };
        of_documents += if !takes_own && takes_documents { len } else { 0 };
        all.push(attempt);
    }
}

/// Returns the attempts of a note with their worth, and whether they come behind those of other notes.
fn with_worth(rank: usize, passages: &Passages) -> Vec<(bool, f64, PassageAttempt)> {
    let attempt = |worth: f64, fragment: Option<usize>| (passages.is_late, worth, PassageAttempt::new(rank, fragment));
    match passages.whole {
        Some(worth) if worth > 0.0 => vec![attempt(worth, None)],
        Some(_) => Vec::new(),
        None => {
            let with_worth = passages.worth.iter().enumerate().filter(|(_, worth)| **worth > 0.0);
            with_worth.map(|(index, worth)| attempt(*worth, Some(index))).collect()
        }
    }
}

/// Removes attempts whose text is nearly that of an earlier one in another note.
fn without_duplicates(
    mut attempts: Vec<PassageAttempt>,
    notes: &[(usize, &NoteEntry, Option<&Passages>)],
) -> Vec<PassageAttempt> {
    let notes: HashMap<usize, &NoteEntry> = notes.iter().map(|(rank, note, _)| (*rank, *note)).collect();
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    attempts.retain(|attempt| {
        let Some(note) = notes.get(&attempt.rank) else { return true };
        let shingles = shingles(note, attempt.fragment);
        let may_replace = |rank: usize| notes.get(&rank).is_some_and(|other| other.note.may_replace(&note.note));
        let mut shared: HashMap<usize, usize> = HashMap::new();
        let earlier = shingles.iter().filter_map(|shingle| seen.get(shingle)).flatten();
        let is_other = |rank: &&usize| **rank != attempt.rank && may_replace(**rank);
        earlier.filter(is_other).for_each(|rank| *shared.entry(*rank).or_default() += 1);
        let least = (DUPLICATE_SHARE * shingles.len() as f64).ceil() as usize;
        let is_duplicate = !shingles.is_empty() && shared.values().any(|count| *count >= least);
        if !is_duplicate {
            shingles.into_iter().for_each(|shingle| seen.entry(shingle).or_default().push(attempt.rank));
        }
        !is_duplicate
    });
    attempts
}

/// Returns the hashes of the rows of words of a fragment, or of the whole text of a note.
fn shingles(note: &NoteEntry, fragment: Option<usize>) -> HashSet<u64> {
    let body = note.note.parsed_or_empty().body();
    let text = match fragment {
        Some(index) => note.passages.get().and_then(|all| all.fragments.get(index)).map_or("", |one| one.text(body)),
        None => body,
    };
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.windows(SHINGLE).map(|row| FixedState::default().hash_one(row)).collect()
}
