//! The report of an evaluation: the metrics, then each question whose answer was lost, and each that was answered although
//! the store has no answer.

use super::metrics::mean;
use super::questions::JudgedQuestion;
use super::{AnswerOutcome, Loss, Outcome, RankingScores};
use crate::error::{Error, ErrorKind};
use crate::report::{Entry, MatchLevel, Report, ReportHead, RowEntry, RowValue, layout};
use crate::request::EvalRequest;

/// Returns the report of the questions of a file. Its verdict is an error if the share of hits is too low.
pub(super) fn report(request: &EvalRequest, file: &str, outcomes: &[Outcome<'_>], store: &str) -> Report {
    let (answerable, silent): (Vec<&Outcome<'_>>, Vec<&Outcome<'_>>) =
        outcomes.iter().partition(|outcome| outcome.question.expected.is_some());
    let budgets: Vec<usize> = request.answers.iter().map(|answer| answer.chars).collect();
    let mut rows = vec![count_row("questions", "questions that have an answer", answerable.len())];
    rows.push(count_row("silent", "prompts that must get no answer", silent.len()));
    if !answerable.is_empty() {
        rows.extend(ranking_rows(&answerable));
    }
    rows.extend(level_rows("", &answerable));
    rows.extend(level_rows("silent-", &silent));
    for (budget_idx, chars) in budgets.iter().enumerate() {
        rows.extend(answer_rows(*chars, budget_idx, &answerable, &silent));
    }
    rows.extend(answerable.iter().flat_map(|outcome| miss_rows(file, outcome, &budgets)));
    rows.extend(silent.iter().filter_map(|outcome| false_answer_row(file, outcome, &budgets)));
    let entries = rows.into_iter().map(Entry::Row).collect();
    let verdict = request.min_hit.and_then(|min_hit| check_min_hit(min_hit.get(), &answerable, &budgets));
    Report { verdict, ..Report::new(ReportHead::new(&layout::EVAL, Some(store)), entries) }
}

/// Returns the row of a metric. `shown`: its value for people; `fields`: all but its name.
fn figure_row(name: &str, shown: String, line: String, mut fields: Vec<(&'static str, RowValue)>) -> RowEntry {
    fields.insert(0, ("name", RowValue::name(name)));
    RowEntry { kind: "figure", list: "figures", figure: shown, line, fields, ..RowEntry::default() }
}

fn count_row(name: &str, about: &str, count: usize) -> RowEntry {
    figure_row(name, count.to_string(), about.to_owned(), vec![("count", RowValue::Count(count))])
}

fn ranking_rows(answerable: &[&Outcome<'_>]) -> Vec<RowEntry> {
    let figure = |name: &str, score: fn(&RankingScores) -> f64| {
        let value = mean(answerable.iter().map(|outcome| score(&outcome.scores)));
        let fields = vec![("value", RowValue::Share(value))];
        figure_row(name, format!("{value:.3}"), format!("{name} of search"), fields)
    };
    vec![
        figure("recall@5", |scores| scores.recall_at_5),
        figure("recall@10", |scores| scores.recall_at_10),
        figure("nDCG@10", |scores| scores.ndcg_at_10),
        figure("MRR", |scores| scores.reciprocal_rank),
    ]
}

/// Returns how many questions are answered, answered weakly, and told that nothing is known.
fn level_rows(prefix: &str, outcomes: &[&Outcome<'_>]) -> Vec<RowEntry> {
    let levels: Vec<MatchLevel> =
        outcomes.iter().filter_map(|outcome| outcome.answers.iter().find_map(|answer| answer.level)).collect();
    let about = if prefix.is_empty() { "questions" } else { "prompts that must get no answer" };
    let row = |level: MatchLevel| {
        let count = levels.iter().filter(|found| **found == level).count();
        let (share, of) = (count as f64 / outcomes.len() as f64, outcomes.len());
        let fields =
            [("value", RowValue::Share(share)), ("count", RowValue::Count(count)), ("of", RowValue::Count(of))];
        let line = format!("{} ({count} of {of} {about})", level.name());
        figure_row(&format!("{prefix}{}", level.name()), format!("{share:.3}"), line, fields.into())
    };
    let all = [MatchLevel::Answer, MatchLevel::Weak, MatchLevel::Nothing];
    if levels.is_empty() { Vec::new() } else { all.map(row).into() }
}

/// Returns the metrics of one budget of `chars` characters. `budget_idx` is its index in the request.
fn answer_rows(chars: usize, budget_idx: usize, answerable: &[&Outcome<'_>], silent: &[&Outcome<'_>]) -> Vec<RowEntry> {
    let figure = |name: &str, value: f64, counted: Option<(usize, usize)>| {
        let mut fields = vec![("budget", RowValue::Count(chars)), ("value", RowValue::Share(value))];
        let mut line = format!("{name} in {chars} characters");
        if let Some((count, of)) = counted {
            fields.extend([("count", RowValue::Count(count)), ("of", RowValue::Count(of))]);
            line.push_str(&format!(" ({count} of {of})"));
        }
        figure_row(&name.replace(' ', "-"), format!("{value:.3}"), line, fields)
    };
    let mut rows = Vec::new();
    let share = |name: &str, count: usize| {
        figure(name, count as f64 / answerable.len() as f64, Some((count, answerable.len())))
    };
    if answerable.iter().any(|outcome| outcome.is_hook) {
        rows.push(share("spoken", count_answers(answerable, budget_idx, |answer| answer.notes > 0)));
        rows.push(share("right note", count_answers(answerable, budget_idx, |answer| answer.has_relevant)));
    }
    if !answerable.is_empty() {
        let hits = count_answers(answerable, budget_idx, AnswerOutcome::is_hit);
        let evidence =
            mean(answerable.iter().filter_map(|outcome| outcome.answers.get(budget_idx)).map(|a| a.evidence));
        rows.push(share("hits", hits));
        rows.push(figure("evidence", evidence, None));
        let spent =
            mean(answerable.iter().filter_map(|outcome| outcome.answers.get(budget_idx)).map(|a| a.chars as f64));
        let spent = spent.round() as usize;
        let fields = vec![("budget", RowValue::Count(chars)), ("count", RowValue::Count(spent))];
        let line = format!("characters of {chars}, on average");
        rows.push(figure_row("characters", spent.to_string(), line, fields));
    }
    if !silent.is_empty() {
        let wrong = count_answers(silent, budget_idx, |answer| answer.notes > 0);
        rows.push(figure("false answers", wrong as f64 / silent.len() as f64, Some((wrong, silent.len()))));
    }
    rows
}

/// Counts the questions whose answer for a budget has a property.
fn count_answers(outcomes: &[&Outcome<'_>], budget_idx: usize, is_counted: fn(&AnswerOutcome) -> bool) -> usize {
    outcomes.iter().filter(|outcome| outcome.answers.get(budget_idx).is_some_and(is_counted)).count()
}

/// Returns a row for each step at which the answer of a question was lost, with the budgets concerned.
fn miss_rows(file: &str, outcome: &Outcome<'_>, budgets: &[usize]) -> Vec<RowEntry> {
    let losses = || outcome.answers.iter().map(|answer| outcome.loss(answer)).zip(budgets);
    [Loss::NotFound, Loss::RankedLow, Loss::NotPacked, Loss::Silent, Loss::WrongNote, Loss::WrongPassage]
        .into_iter()
        .filter_map(|loss| {
            let lost = losses().filter(|(found, _)| *found == Some(loss));
            let lost_budgets: Vec<usize> = lost.map(|(_, budget)| *budget).collect();
            (!lost_budgets.is_empty()).then(|| miss_row(file, outcome, loss, lost_budgets))
        })
        .collect()
}

fn miss_row(file: &str, outcome: &Outcome<'_>, loss: Loss, budgets: Vec<usize>) -> RowEntry {
    let best = outcome.ranks.first();
    let note = best.map(|(_, id)| id).or(outcome.relevant.ids.first());
    let position = match (best, note) {
        (Some((rank, id)), _) => format!("{id} ranks {rank}"),
        (None, Some(id)) => format!("{id} is not a hit"),
        (None, None) => "no note contains the answer".to_owned(),
    };
    let JudgedQuestion { line, text, .. } = outcome.question;
    let shown = format!(
        "{file}:{line}: {} in {}: {text} ({position})",
        loss.name().replace('-', " "),
        joined_budgets(&budgets)
    );
    let mut fields = vec![("step", RowValue::name(loss.name()))];
    fields.extend(question_fields(file, outcome.question, budgets));
    fields.push(("note", note.map_or(RowValue::Nothing, RowValue::name)));
    fields.push(("rank", best.map_or(RowValue::Nothing, |(rank, _)| RowValue::Count(*rank))));
    RowEntry { kind: "miss", list: "misses", line: shown, fields, ..RowEntry::default() }
}

fn false_answer_row(file: &str, outcome: &Outcome<'_>, budgets: &[usize]) -> Option<RowEntry> {
    let answered = || outcome.answers.iter().zip(budgets).filter(|(answer, _)| answer.notes > 0);
    let first = answered().find_map(|(answer, _)| answer.first_id.clone())?;
    let budgets: Vec<usize> = answered().map(|(_, chars)| *chars).collect();
    let JudgedQuestion { line, text, .. } = outcome.question;
    let shown = format!("{file}:{line}: false answer in {}: {text} (first {first})", joined_budgets(&budgets));
    let mut fields = question_fields(file, outcome.question, budgets).to_vec();
    fields.push(("note", RowValue::Name(first)));
    Some(RowEntry { kind: "false-answer", list: "false_answers", line: shown, fields, ..RowEntry::default() })
}

/// Returns the fields that identify a question and the budgets concerned.
fn question_fields(file: &str, question: &JudgedQuestion, budgets: Vec<usize>) -> [(&'static str, RowValue); 4] {
    [
        ("budgets", RowValue::Counts(budgets)),
        ("path", RowValue::name(file)),
        ("line", RowValue::Count(question.line)),
        ("question", RowValue::Text(question.text.clone())),
    ]
}

/// Joins budgets as in `1000, 2000 and 4000`.
fn joined_budgets(budgets: &[usize]) -> String {
    let numbers: Vec<String> = budgets.iter().map(usize::to_string).collect();
    match numbers.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Returns an error if the share of hits is below `min_hit` in one of the budgets, or if no question has an answer.
fn check_min_hit(min_hit: f64, answerable: &[&Outcome<'_>], budgets: &[usize]) -> Option<Error> {
    let check = |message: String| Error::new(ErrorKind::Check, message);
    if answerable.is_empty() {
        return Some(check("no question has an answer, so there is no hit rate".to_owned()));
    }
    budgets.iter().enumerate().find_map(|(budget_idx, chars)| {
        let hits = count_answers(answerable, budget_idx, AnswerOutcome::is_hit);
        let share = hits as f64 / answerable.len() as f64;
        let message = format!(
            "the hit rate in {chars} characters is {share:.3} ({hits} of {}), below {min_hit}",
            answerable.len()
        );
        (share < min_hit).then(|| check(message))
    })
}
