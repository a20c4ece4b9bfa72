//! The report of an evaluation: the figures, then each question whose answer was lost and each that was answered
//! although the store has no answer.

use super::metrics::mean;
use super::{AnswerOutcome, Loss, Outcome, RankingScores};
use crate::error::{Error, ErrorKind};
use crate::report::{Entry, Report, ReportHead, ReportKind, RowEntry, RowValue};
use crate::request::EvalRequest;

/// Millionths of 1.
const MILLION: f64 = 1_000_000.0;

impl Loss {
    /// Returns the name that programs read.
    fn name(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::RankedLow => "ranked-low",
            Self::NotPacked => "not-packed",
            Self::WrongPassage => "wrong-passage",
        }
    }

    /// Returns the name that people read.
    fn words(self) -> &'static str {
        match self {
            Self::NotFound => "not found",
            Self::RankedLow => "ranked low",
            Self::NotPacked => "not packed",
            Self::WrongPassage => "wrong passage",
        }
    }
}

/// Reports what came of the questions of a file.
pub(super) fn report(request: &EvalRequest, file: &str, outcomes: &[Outcome<'_>], store: &str) -> Report {
    let (asked, silent): (Vec<&Outcome<'_>>, Vec<&Outcome<'_>>) =
        outcomes.iter().partition(|outcome| outcome.question.expected.is_some());
    let budgets: Vec<usize> = request.answers.iter().map(|answer| answer.chars).collect();
    let mut rows = vec![count("questions", "questions that have an answer", asked.len())];
    rows.push(count("silent", "prompts that must stay silent", silent.len()));
    if !asked.is_empty() {
        rows.extend(ranking_figures(&asked));
    }
    for (budget_idx, chars) in budgets.iter().enumerate() {
        rows.extend(answer_figures(*chars, budget_idx, &asked, &silent));
    }
    rows.extend(asked.iter().flat_map(|outcome| misses(file, outcome, &budgets)));
    rows.extend(silent.iter().filter_map(|outcome| false_answer(file, outcome, &budgets)));
    let entries = rows.into_iter().map(Entry::Row).collect();
    let verdict = request.min_hit.and_then(|least| verdict(f64::from(least) / MILLION, &asked, &budgets));
    Report { verdict, ..Report::new(ReportHead::new(ReportKind::Eval, Some(store)), entries) }
}

fn count(name: &'static str, about: &str, count: usize) -> RowEntry {
    let fields = vec![("name", RowValue::Name(name.to_owned())), ("count", RowValue::Count(count))];
    RowEntry { kind: "figure", list: "figures", figure: count.to_string(), line: about.to_owned(), fields }
}

fn ranking_figures(asked: &[&Outcome<'_>]) -> Vec<RowEntry> {
    let figure = |name: &str, score: fn(&RankingScores) -> f64| {
        let value = mean(asked.iter().map(|outcome| score(&outcome.scores)));
        let fields = vec![("name", RowValue::Name(name.to_owned())), ("value", RowValue::Share(value))];
        RowEntry {
            kind: "figure",
            list: "figures",
            figure: format!("{value:.3}"),
            line: format!("{name} of search"),
            fields,
        }
    };
    vec![
        figure("recall@5", |scores| scores.recall_at_5),
        figure("recall@10", |scores| scores.recall_at_10),
        figure("nDCG@10", |scores| scores.ndcg_at_10),
        figure("MRR", |scores| scores.reciprocal_rank),
    ]
}

/// Returns what a budget comes to; `budget_idx` counts the budgets from 0.
fn answer_figures(chars: usize, budget_idx: usize, asked: &[&Outcome<'_>], silent: &[&Outcome<'_>]) -> Vec<RowEntry> {
    let figure = |name: &str, value: f64, counted: Option<(usize, usize)>| {
        let mut fields = vec![
            ("name", RowValue::Name(name.replace(' ', "-"))),
            ("budget", RowValue::Count(chars)),
            ("value", RowValue::Share(value)),
        ];
        let mut line = format!("{name} in {chars} characters");
        if let Some((count, of)) = counted {
            fields.extend([("count", RowValue::Count(count)), ("of", RowValue::Count(of))]);
            line.push_str(&format!(" ({count} of {of})"));
        }
        RowEntry { kind: "figure", list: "figures", figure: format!("{value:.3}"), line, fields }
    };
    let answers = |outcomes: &[&Outcome<'_>], is_counted: fn(&AnswerOutcome) -> bool| {
        outcomes
            .iter()
            .filter_map(|outcome| outcome.answers.get(budget_idx))
            .filter(|answer| is_counted(answer))
            .count()
    };
    let mut rows = Vec::new();
    if !asked.is_empty() {
        let hits = answers(asked, |answer| answer.evidence > 0.0);
        let evidence = mean(asked.iter().filter_map(|outcome| outcome.answers.get(budget_idx)).map(|a| a.evidence));
        rows.push(figure("hits", hits as f64 / asked.len() as f64, Some((hits, asked.len()))));
        rows.push(figure("evidence", evidence, None));
    }
    if !silent.is_empty() {
        let wrong = answers(silent, |answer| answer.notes > 0);
        rows.push(figure("false answers", wrong as f64 / silent.len() as f64, Some((wrong, silent.len()))));
    }
    rows
}

/// Returns a row for each way in which the answer of a question was lost, with the budgets.
fn misses(file: &str, outcome: &Outcome<'_>, budgets: &[usize]) -> Vec<RowEntry> {
    let losses = || outcome.answers.iter().map(|answer| outcome.loss(answer)).zip(budgets);
    [Loss::NotFound, Loss::RankedLow, Loss::NotPacked, Loss::WrongPassage]
        .into_iter()
        .filter_map(|loss| {
            let in_budgets: Vec<usize> = losses().filter(|(have, _)| *have == Some(loss)).map(|(_, n)| *n).collect();
            (!in_budgets.is_empty()).then(|| miss(file, outcome, loss, in_budgets))
        })
        .collect()
}

fn miss(file: &str, outcome: &Outcome<'_>, loss: Loss, budgets: Vec<usize>) -> RowEntry {
    let best = outcome.ranks.first();
    let note = best.map(|(_, id)| id).or(outcome.relevant.ids.first());
    let place = match (best, note) {
        (Some((rank, id)), _) => format!("{id} ranks {rank}"),
        (None, Some(id)) => format!("{id} is no hit"),
        (None, None) => "no note holds the answer".to_owned(),
    };
    let (line, text) = (outcome.question.line, &outcome.question.text);
    let shown = format!("{file}:{line}: {} in {}: {text} ({place})", loss.words(), listed(&budgets));
    let fields = vec![
        ("step", RowValue::Name(loss.name().to_owned())),
        ("budgets", RowValue::Counts(budgets)),
        ("path", RowValue::Name(file.to_owned())),
        ("line", RowValue::Count(line)),
        ("question", RowValue::Text(text.clone())),
        ("note", note.map_or(RowValue::Nothing, |id| RowValue::Name(id.as_str().to_owned()))),
        ("rank", best.map_or(RowValue::Nothing, |(rank, _)| RowValue::Count(*rank))),
    ];
    RowEntry { kind: "miss", list: "misses", figure: String::new(), line: shown, fields }
}

fn false_answer(file: &str, outcome: &Outcome<'_>, budgets: &[usize]) -> Option<RowEntry> {
    let answered = || outcome.answers.iter().zip(budgets).filter(|(answer, _)| answer.notes > 0);
    let first = answered().find_map(|(answer, _)| answer.first.clone())?;
    let budgets: Vec<usize> = answered().map(|(_, chars)| *chars).collect();
    let (line, text) = (outcome.question.line, &outcome.question.text);
    let shown = format!("{file}:{line}: false answer in {}: {text} (first {first})", listed(&budgets));
    let fields = vec![
        ("budgets", RowValue::Counts(budgets)),
        ("path", RowValue::Name(file.to_owned())),
        ("line", RowValue::Count(line)),
        ("question", RowValue::Text(text.clone())),
        ("note", RowValue::Name(first)),
    ];
    Some(RowEntry { kind: "false-answer", list: "false_answers", figure: String::new(), line: shown, fields })
}

/// Writes budgets as people do: `1000, 2000 and 4000`.
fn listed(budgets: &[usize]) -> String {
    let numbers: Vec<String> = budgets.iter().map(usize::to_string).collect();
    match numbers.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Returns the error where the share of hits is below the least in one of the budgets.
fn verdict(least: f64, asked: &[&Outcome<'_>], budgets: &[usize]) -> Option<Error> {
    let check = |message: String| Error::new(ErrorKind::Check, message);
    if asked.is_empty() {
        return Some(check("no question has an answer, so there is no share of hits".to_owned()));
    }
    budgets.iter().enumerate().find_map(|(budget_idx, chars)| {
        let hits =
            asked.iter().filter(|outcome| outcome.answers.get(budget_idx).is_some_and(|a| a.evidence > 0.0)).count();
        let share = hits as f64 / asked.len() as f64;
        let said = format!("hits in {chars} characters are {share:.3} ({hits} of {}), below {least}", asked.len());
        (share < least).then(|| check(said))
    })
}
