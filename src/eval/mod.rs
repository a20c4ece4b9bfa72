//! `qipu eval`: runs questions with known answers and reports how many of these the output contains.
//!
//! It makes the requests of the command line and fits the reports in the same way, so that it measures what a user gets.

mod answer;
mod metrics;
mod questions;
mod rows;
mod text;

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use crate::codec::named::named;
use crate::commands;
use crate::context::Session;
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::fit::{self, ShownText};
use crate::hooks;
use crate::note::NoteId;
use crate::progress;
use crate::render::Screen;
use crate::report::{Entry, MatchLevel, Report};
use crate::request::{
    Command, ContextRequest, EvalRequest, MeasuredAnswer, Program, ReadCommand, SearchRequest, TextSource,
};
use crate::store::{self, CollectionScope, Location, NoteHandle, Store};
use answer::{ShownAnswer, headings};
use metrics::RankingScores;
use questions::{ExpectedAnswer, ExpectedPassage, JudgedQuestion};
use text::{NormalizedText, words};

/// The last rank that an agent is assumed to read. A relevant note below it counts as ranked low.
const LAST_RANK_READ: usize = 10;

/// The name of standard input in errors and reports.
const STANDARD_INPUT: &str = "-";

/// Runs `qipu eval`.
///
/// # Errors
/// `Usage` for an invalid question file; the errors of the commands that answer the questions.
pub(crate) fn run(request: &EvalRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let (name, questions) = read_questions(&request.questions, &env.current_dir)?;
    env.join_thread_pool();
    let is_hook = is_hook(request);
    if let Some(question) = questions.iter().find(|question| !is_hook && question.input.is_some()) {
        return Err(Error::usage(format!("{name}:{}: `input`: only with --prompts", question.line)));
    }
    // Documents are relevant to edits only.
    let is_own = is_hook && questions.iter().all(|question| question.input.is_none());
    let with_documents = if is_hook { location.scope } else { CollectionScope::History };
    let scope = if is_own { CollectionScope::Own } else { with_documents };
    let ranked_in = &Location { scope, ..location.clone() };
    let store = commands::open_to_search(ranked_in, &env.current_dir)?;
    // Each prompt opens the store, as in a hook; here it must be freed.
    let location = &Location { is_only_call: false, ..location.clone() };
    let prompts = PromptPlace { location, current_dir: &env.current_dir };
    let measure = |store: &Store| run_questions(request, &questions, store, prompts);
    let (store, outcomes) = store.with_corruption_retry(ranked_in, &env.current_dir, measure)?;
    let store = store.leaked_at_exit();
    Ok(rows::report(request, &name, &outcomes?, &store.shown_path))
}

/// Whether answers of hooks are measured.
fn is_hook(request: &EvalRequest) -> bool {
    request.answers.iter().any(|measured| matches!(measured.request.command, Command::Run(Program::Hook(_))))
}

/// Where hooks look for notes.
#[derive(Clone, Copy)]
struct PromptPlace<'a> {
    location: &'a Location,
    current_dir: &'a Path,
}

/// Returns the request of the hook for a question.
fn hook_request(question: &JudgedQuestion, room: usize) -> Result<Option<ContextRequest>, Error> {
    match &question.input {
        Some(input) => Ok(hooks::input_request(input, room)?.notes),
        None => Ok(hooks::prompt_request(&question.text, room)),
    }
}

/// Returns the ids of the notes that an answer in the records format shows.
pub(crate) fn shown_ids(answer: &str) -> Vec<String> {
    ShownAnswer::parse(answer).ids
}

/// Reads and parses a question file. Returns its name in messages and its questions.
fn read_questions(source: &TextSource, current_dir: &Path) -> Result<(String, Vec<JudgedQuestion>), Error> {
    let (name, bytes) = match source {
        TextSource::File(file) => (file.display().to_string(), &store::read_user_file(file, current_dir)?),
        TextSource::Text(text) => (STANDARD_INPUT.to_owned(), &text.clone().into_bytes()),
    };
    let questions = questions::parse(&name, bytes)?;
    Ok((name, questions))
}

/// The result of a question.
struct Outcome<'a> {
    question: &'a JudgedQuestion,
    /// Whether the answers are those of a hook, which chooses notes by other rules than a search.
    is_hook: bool,
    relevant: RelevantNotes,
    /// The ranks, from 1 and ascending, of the relevant notes that a search finds, with their ids.
    ranks: Vec<(usize, NoteId)>,
    scores: RankingScores,
    /// The result for each budget, in the order of the request.
    answers: Vec<AnswerOutcome>,
}

/// The notes that contain the answer of a question.
#[derive(Default)]
struct RelevantNotes {
    /// Their ids, ascending.
    ids: Vec<NoteId>,
    /// The number of names in the question file that no note has. They count as relevant notes that are never found.
    unknown: usize,
}

impl RelevantNotes {
    fn count(&self) -> usize {
        self.ids.len() + self.unknown
    }
}

/// The result of a question for one budget.
struct AnswerOutcome {
    /// The fraction of the expected passages that is shown, 0 to 1; of the relevant notes if no passages are given; 0 if
    /// no answer is expected.
    evidence: f64,
    has_relevant: bool,
    notes: usize,
    /// The id of the first one.
    first_id: Option<String>,
    /// The characters that it takes.
    chars: usize,
    /// How well the notes match, whatever the budget; `None` for a question without words.
    level: Option<MatchLevel>,
}

impl AnswerOutcome {
    fn is_hit(&self) -> bool {
        self.evidence > 0.0
    }
}

named! {
    /// The step at which an answer was lost.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Loss {
        /// No relevant note is a hit.
        NotFound = "not-found",
        /// The best relevant note ranks below [`LAST_RANK_READ`].
        RankedLow = "ranked-low",
        /// The best relevant note ranks high enough but is not shown.
        NotPacked = "not-packed",
        /// A relevant note is shown, without an expected passage.
        WrongPassage = "wrong-passage",
        /// A hook shows other notes.
        WrongNote = "wrong-note",
        /// A hook shows nothing.
        Silent = "silent",
    }
}

impl Outcome<'_> {
    /// Returns the step at which the answer was lost for a budget; `None` for a hit.
    fn loss(&self, answer: &AnswerOutcome) -> Option<Loss> {
        if answer.is_hit() {
            return None;
        }
        if answer.has_relevant {
            return Some(Loss::WrongPassage);
        }
        if self.is_hook {
            return Some(if answer.notes > 0 { Loss::WrongNote } else { Loss::Silent });
        }
        match self.ranks.first().map(|(rank, _)| *rank) {
            None => Some(Loss::NotFound),
            Some(rank) if rank > LAST_RANK_READ => Some(Loss::RankedLow),
            Some(_) => Some(Loss::NotPacked),
        }
    }
}

/// Runs all questions on an open store. Returns the results in the order of the file.
fn run_questions<'a>(
    request: &EvalRequest,
    questions: &'a [JudgedQuestion],
    store: &Store,
    prompts: PromptPlace<'_>,
) -> Result<Vec<Outcome<'a>>, Error> {
    let session = Session::new(store);
    let relevant = relevant_notes(questions, store);
    let _work = progress::begin("asking questions", questions.len());
    let outcome = |(question, relevant): (&'a JudgedQuestion, RelevantNotes)| {
        let outcome = run_question(request, question, relevant, (&session, prompts));
        progress::advance();
        outcome
    };
    questions.iter().zip(relevant).map(outcome).collect()
}

/// Returns the relevant notes of each question: those that it names, else those that contain one of its passages. Reads
/// each body at most once. O(notes × passages).
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
    let question_idxs: Vec<Vec<usize>> =
        store.notes().par_iter().map(|note| questions_answered_by(note, &without_ids)).collect();
    for (note, question_idxs) in store.notes().iter().zip(question_idxs) {
        for question_idx in question_idxs {
            relevant[question_idx].ids.push(note.id.clone());
        }
    }
    relevant
}

/// Returns the questions that a note answers: it contains one of their passages. Questions are given, and returned, by
/// their indices in the file.
fn questions_answered_by(note: &Arc<NoteHandle>, questions: &[(usize, &[ExpectedPassage])]) -> Vec<usize> {
    let texts = [
        NormalizedText::new(note.parsed_or_empty().body()),
        NormalizedText::new(note.list_fields().summary.unwrap_or_default()),
    ];
    let mut headings = headings(note.parsed_or_empty().body());
    headings.push(words(note.title()));
    let contains_one = |passages: &[ExpectedPassage]| passages.iter().any(|passage| passage.is_in(&texts, &headings));
    questions.iter().filter(|(_, passages)| contains_one(passages)).map(|(question_idx, _)| *question_idx).collect()
}

fn named_notes(question: &JudgedQuestion, store: &Store) -> RelevantNotes {
    let mut relevant = RelevantNotes::default();
    for name in question.expected.iter().flat_map(|expected| &expected.ids) {
        match store.resolve(name) {
            Ok(note) => relevant.ids.push(store.notes()[note].id.clone()),
            Err(_) => relevant.unknown += 1,
        }
    }
    relevant.ids.sort();
    relevant.ids.dedup();
    relevant
}

/// Runs a question: a search for its ranking, and an answer for each budget.
fn run_question<'a>(
    request: &EvalRequest,
    question: &'a JudgedQuestion,
    relevant: RelevantNotes,
    (session, prompts): (&Session<'_>, PromptPlace<'_>),
) -> Result<Outcome<'a>, Error> {
    let ranks = match &question.expected {
        Some(_) => relevant_ranks(&search_ranking(question, session)?, &relevant.ids),
        None => Vec::new(),
    };
    let found_ranks: Vec<usize> = ranks.iter().map(|(rank, _)| *rank).collect();
    let scores = RankingScores::new(&found_ranks, relevant.count());
    let answers = request.answers.iter().map(|measured| {
        let answer = run_answer(measured, question, (session, prompts))?;
        Ok(score_answer(question.expected.as_ref(), &relevant, &answer))
    });
    let answers = answers.collect::<Result<_, Error>>()?;
    Ok(Outcome { question, is_hook: is_hook(request), relevant, ranks, scores, answers })
}

/// Returns the hits of a search, best first, each with the notes that it replaces as a digest.
fn search_ranking(question: &JudgedQuestion, session: &Session<'_>) -> Result<Vec<Vec<NoteId>>, Error> {
    let search = SearchRequest { query: question.text.clone(), is_question: true, ..SearchRequest::default() };
    let report = commands::run_at(&ReadCommand::Search(search), session)?;
    let notes = report.entries.iter().filter_map(Entry::note);
    Ok(notes.map(|entry| [&entry.note.id].into_iter().chain(&entry.compacted).cloned().collect()).collect())
}

/// Returns the rank, from 1, of each relevant note in a ranking, ascending.
fn relevant_ranks(ranking: &[Vec<NoteId>], relevant: &[NoteId]) -> Vec<(usize, NoteId)> {
    let rank = |id: &NoteId| Some((1 + ranking.iter().position(|ids| ids.contains(id))?, id.clone()));
    let mut ranks: Vec<(usize, NoteId)> = relevant.iter().filter_map(rank).collect();
    ranks.sort();
    ranks
}

/// Runs the request of an answer. Returns what it shows, its size, and how well it matches.
fn run_answer(
    measured: &MeasuredAnswer,
    question: &JudgedQuestion,
    (session, prompts): (&Session<'_>, PromptPlace<'_>),
) -> Result<MeasuredText, Error> {
    let request = &measured.request;
    let Command::Read(ReadCommand::Context(context)) = &request.command else {
        return run_hook(measured, question, prompts);
    };
    let mut context = context.clone();
    context.selection.query = Some(question.text.clone());
    let report = commands::run_at(&ReadCommand::Context(context), session)?;
    let text = fit::fit(&report, request.budget, request.format, Screen::default());
    let measure = |text: String| MeasuredText::new(ShownAnswer::parse(&text), &text, &report);
    or_empty(text.map(measure))
}

/// Returns an empty answer if not even that fits the budget.
fn or_empty(answer: Result<MeasuredText, Error>) -> Result<MeasuredText, Error> {
    answer.or_else(|error| if error.kind == ErrorKind::Budget { Ok(MeasuredText::default()) } else { Err(error) })
}

/// Runs a prompt, an edit or a command as a hook does, with the notes and the parts of them that it adds.
fn run_hook(
    measured: &MeasuredAnswer,
    question: &JudgedQuestion,
    prompts: PromptPlace<'_>,
) -> Result<MeasuredText, Error> {
    let Some(context) = hook_request(question, measured.chars)? else { return Ok(MeasuredText::default()) };
    let report = commands::find_notes(&context, prompts.location, prompts.current_dir)?;
    let shown = fit::fit_unseen(&report, measured.request.budget, hooks::PROMPT_FORMAT, &|_| false);
    let measure = |(text, parts): (String, Vec<ShownText>)| MeasuredText {
        level: None,
        ..MeasuredText::new(ShownAnswer::of_parts(&parts), &text, &report)
    };
    or_empty(shown.map(|shown| shown.map(measure).unwrap_or_default()))
}

/// What an answer shows, its size, and how well it matches.
#[derive(Default)]
struct MeasuredText {
    shown: ShownAnswer,
    chars: usize,
    level: Option<MatchLevel>,
}

impl MeasuredText {
    fn new(shown: ShownAnswer, text: &str, report: &Report) -> Self {
        let level = report.head.question_match.as_ref().map(|matched| matched.level);
        Self { shown, chars: text.chars().count(), level }
    }
}

/// Compares an answer with the expected one.
fn score_answer(expected: Option<&ExpectedAnswer>, relevant: &RelevantNotes, answer: &MeasuredText) -> AnswerOutcome {
    let MeasuredText { shown: answer, chars, level } = answer;
    let shown = relevant.ids.iter().filter(|id| answer.shows(id.as_str())).count();
    let fraction = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    let evidence = match expected.map_or(&[][..], |expected| expected.passages.as_slice()) {
        [] => fraction(shown, relevant.count()),
        passages => {
            let is_shown = |passage: &&ExpectedPassage| passage.is_in(&answer.texts, &answer.headings);
            fraction(passages.iter().filter(is_shown).count(), passages.len())
        }
    };
    let first_id = answer.ids.first().cloned();
    AnswerOutcome { evidence, has_relevant: shown > 0, notes: answer.ids.len(), first_id, chars: *chars, level: *level }
}
