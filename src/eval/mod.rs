//! `qipu eval`: asks questions whose answers are known, and reports how many the answers contain.
//!
//! Like the faces that stay open it makes requests, hands them to the commands and has `fit` cut the answers: what is
//! measured is what a user gets.

mod answer;
mod metrics;
mod questions;
mod rows;
mod text;

use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::commands;
use crate::context::Session;
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::fit;
use crate::note::{Note, NoteId};
use crate::progress;
use crate::render::Screen;
use crate::report::{Entry, Report};
use crate::request::{Command, EvalRequest, MeasuredAnswer, SearchRequest, TextSource};
use crate::store::{self, Store};
use answer::{ShownAnswer, headings};
use metrics::RankingScores;
use questions::{ExpectedAnswer, ExpectedPassage, JudgedQuestion};
use text::{NormalizedText, words};

/// How far down a ranking an agent looks: a relevant note below counts as ranked low.
const LOOKED_AT: usize = 10;

/// How standard input is named where a file would be.
const STANDARD_INPUT: &str = "-";

/// Runs `qipu eval`.
///
/// # Errors
/// `Usage` for a question file that can't be understood; whatever keeps a question from being answered.
pub(crate) fn run(request: &EvalRequest, env: &Env) -> Result<Report, Error> {
    let (name, questions) = read(&request.questions, &env.current_dir)?;
    (env.lend_thread)();
    let store = commands::open_to_search(&request.location, &env.current_dir)?;
    let measure = |store: &Store| measured(request, &questions, store);
    let (store, outcomes) = store.trusted(&request.location, &env.current_dir, measure)?;
    // Never freed: the process ends after the answer.
    let store = ManuallyDrop::new(store);
    Ok(rows::report(request, &name, &outcomes?, &store.shown_path))
}

fn read(source: &TextSource, current_dir: &Path) -> Result<(String, Vec<JudgedQuestion>), Error> {
    let (name, bytes) = match source {
        TextSource::File(file) => (file.display().to_string(), &store::import(file, current_dir)?),
        TextSource::Text(text) => (STANDARD_INPUT.to_owned(), &text.clone().into_bytes()),
    };
    let questions = questions::parse(&name, bytes)?;
    Ok((name, questions))
}

/// What came of a question.
struct Outcome<'a> {
    question: &'a JudgedQuestion,
    relevant: RelevantNotes,
    /// The ranks of those that a search finds, from 1, with their ids.
    ranks: Vec<(usize, NoteId)>,
    scores: RankingScores,
    /// What came of it in each budget, in the order of the request.
    answers: Vec<AnswerOutcome>,
}

/// The notes that hold the answer of a question.
#[derive(Default)]
struct RelevantNotes {
    /// Their ids, in order.
    ids: Vec<NoteId>,
    /// How many names of notes in the question file are those of no note. They count as notes that are never found.
    unknown: usize,
}

impl RelevantNotes {
    fn count(&self) -> usize {
        self.ids.len() + self.unknown
    }
}

/// What came of a question in one budget.
struct AnswerOutcome {
    /// The share of the passages (or of the notes, where only notes are named) that is shown; 0 where none is
    /// expected.
    evidence: f64,
    /// Whether a relevant note is shown.
    shows_relevant: bool,
    /// How many notes are shown, and the first.
    notes: usize,
    first: Option<String>,
}

/// Where an answer was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Loss {
    /// No note that answers is among the hits.
    NotFound,
    /// The best one ranks below those that an agent looks at.
    RankedLow,
    /// It ranks high enough and is not shown.
    NotPacked,
    /// It is shown without what answers.
    WrongPassage,
}

impl Outcome<'_> {
    /// Returns where the answer was lost in a budget; `None` for a hit.
    fn loss(&self, answer: &AnswerOutcome) -> Option<Loss> {
        let best = self.ranks.first().map(|(rank, _)| *rank);
        match best {
            _ if answer.evidence > 0.0 => None,
            _ if answer.shows_relevant => Some(Loss::WrongPassage),
            None => Some(Loss::NotFound),
            Some(rank) if rank > LOOKED_AT => Some(Loss::RankedLow),
            Some(_) => Some(Loss::NotPacked),
        }
    }
}

fn measured<'a>(
    request: &EvalRequest,
    questions: &'a [JudgedQuestion],
    store: &Store,
) -> Result<Vec<Outcome<'a>>, Error> {
    let desk = Session::new(store);
    let relevant = relevant_notes(questions, store);
    let _work = progress::begin("asking questions", questions.len());
    let outcome = |(question, relevant): (&'a JudgedQuestion, RelevantNotes)| {
        let outcome = asked(request, question, relevant, &desk);
        progress::advance();
        outcome
    };
    questions.iter().zip(relevant).map(outcome).collect()
}

/// Finds the notes that hold the answer of each question: those that it names, else those that contain one of its
/// passages. Each body is read once.
fn relevant_notes(questions: &[JudgedQuestion], store: &Store) -> Vec<RelevantNotes> {
    let mut relevant: Vec<RelevantNotes> = questions.iter().map(|question| named_notes(question, store)).collect();
    let without_ids: Vec<(usize, &[ExpectedPassage])> = questions
        .iter()
        .enumerate()
        .filter_map(|(question_idx, question)| Some((question_idx, question.expected.as_ref()?)))
        .filter(|(_, expected)| expected.ids.is_empty())
        .map(|(question_idx, expected)| (question_idx, expected.passages.as_slice()))
        .collect();
    if without_ids.is_empty() {
        return relevant;
    }
    let answered: Vec<Vec<usize>> = store.notes().par_iter().map(|note| answered_by(note, &without_ids)).collect();
    for (note, question_idxs) in store.notes().iter().zip(answered) {
        for question_idx in question_idxs {
            relevant[question_idx].ids.push(note.id.clone());
        }
    }
    relevant
}

/// Returns the questions, of those given with their passages, of which a note contains one.
fn answered_by(note: &Arc<Note>, questions: &[(usize, &[ExpectedPassage])]) -> Vec<usize> {
    let texts = [NormalizedText::new(note.body()), NormalizedText::new(note.summary_field().unwrap_or_default())];
    let mut headings = headings(note.body());
    headings.push(words(note.title()));
    let contains_one = |passages: &[ExpectedPassage]| passages.iter().any(|passage| passage.is_in(&texts, &headings));
    questions.iter().filter(|(_, passages)| contains_one(passages)).map(|(question_idx, _)| *question_idx).collect()
}

fn named_notes(question: &JudgedQuestion, store: &Store) -> RelevantNotes {
    let mut relevant = RelevantNotes::default();
    for name in question.expected.iter().flat_map(|expected| &expected.ids) {
        match store.resolve(name).ok().and_then(|note| store.notes().get(note)) {
            Some(note) => relevant.ids.push(note.id.clone()),
            None => relevant.unknown += 1,
        }
    }
    relevant.ids.sort();
    relevant.ids.dedup();
    relevant
}

fn asked<'a>(
    request: &EvalRequest,
    question: &'a JudgedQuestion,
    relevant: RelevantNotes,
    desk: &Session<'_>,
) -> Result<Outcome<'a>, Error> {
    let ranks = match &question.expected {
        Some(_) => ranks(&ranked(request, question, desk)?, &relevant.ids),
        None => Vec::new(),
    };
    let found: Vec<usize> = ranks.iter().map(|(rank, _)| *rank).collect();
    let scores = RankingScores::new(&found, relevant.count());
    let answers = request.answers.iter().map(|measured| {
        let answer = answered(measured, question, desk)?;
        Ok(judged(question.expected.as_ref(), &relevant, &answer))
    });
    let answers = answers.collect::<Result<_, Error>>()?;
    Ok(Outcome { question, relevant, ranks, scores, answers })
}

/// Returns the notes that a search finds, best first, each with those that it stands for.
fn ranked(request: &EvalRequest, question: &JudgedQuestion, desk: &Session<'_>) -> Result<Vec<Vec<NoteId>>, Error> {
    let search = SearchRequest { query: question.text.clone(), ..request.search.clone() };
    let report = commands::run_at(&Command::Search(search), desk)?;
    let notes = report.entries.iter().filter_map(Entry::note);
    Ok(notes.map(|entry| [&entry.note.id].into_iter().chain(&entry.compacts).cloned().collect()).collect())
}

/// Returns the rank of each relevant note that was found, the best first.
fn ranks(ranking: &[Vec<NoteId>], relevant: &[NoteId]) -> Vec<(usize, NoteId)> {
    let rank = |id: &NoteId| Some((1 + ranking.iter().position(|ids| ids.contains(id))?, id.clone()));
    let mut ranks: Vec<(usize, NoteId)> = relevant.iter().filter_map(rank).collect();
    ranks.sort();
    ranks
}

/// Returns the answer as it is written. Where not even an empty one fits, there is none.
fn answered(measured: &MeasuredAnswer, question: &JudgedQuestion, desk: &Session<'_>) -> Result<ShownAnswer, Error> {
    let mut request = measured.request.clone();
    if let Command::Context(context) = &mut request.command {
        context.selection.query = Some(question.text.clone());
    }
    let report = commands::run_at(&request.command, desk)?;
    match fit::fit(&report, request.budget, request.format, Screen::default()) {
        Ok(text) => Ok(ShownAnswer::read(&text)),
        Err(error) if error.kind == ErrorKind::Budget => Ok(ShownAnswer::default()),
        Err(error) => Err(error),
    }
}

/// Compares an answer with what is expected of it.
fn judged(expected: Option<&ExpectedAnswer>, relevant: &RelevantNotes, answer: &ShownAnswer) -> AnswerOutcome {
    let shown = relevant.ids.iter().filter(|id| answer.shows(id.as_str())).count();
    let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let evidence = match expected.map_or(&[][..], |expected| expected.passages.as_slice()) {
        [] => share(shown, relevant.count()),
        passages => {
            let is_shown = |passage: &&ExpectedPassage| passage.is_in(&answer.texts, &answer.headings);
            share(passages.iter().filter(is_shown).count(), passages.len())
        }
    };
    let first = answer.ids.first().cloned();
    AnswerOutcome { evidence, shows_relevant: shown > 0, notes: answer.ids.len(), first }
}
