//! The frontend of `qipu hook`: answers a hook of an agent tool, and records what the session was shown. Nothing that goes
//! wrong may break the session: it is a warning on standard error, and the answer is empty.

use std::collections::HashSet;
use std::io::Write;

use crate::commands;
use crate::env::Env;
use crate::error::Error;
use crate::fit::{self, ShownText};
use crate::hooks::{self, HookAnswer, HookCall};
use crate::report::{Entry, Report, ReportHead, layout};
use crate::request::{Command, HookRequest, ShownInSession};
use crate::store::{Location, ShownRecord, hash_of_part};
use crate::warnings;

/// Answers a hook and writes the answer, if there is one.
///
/// # Errors
/// If the input is not that of a hook, a record can't be read or written, or the answer can't be written.
pub(crate) fn run(request: &HookRequest, location: &Location, env: &Env, out: &mut dyn Write) -> Result<(), Error> {
    let Some(call) = hooks::parse(request)? else { return Ok(()) };
    let current_dir = call.current_dir.as_deref().filter(|dir| dir.is_dir()).unwrap_or(&env.current_dir);
    let record = record(&request.shown, &call, env);
    if call.is_fresh {
        record.iter().for_each(ShownRecord::clear);
    }
    let answer = match &call.answer {
        HookAnswer::Text(text) => Some((text_report(text), false)),
        HookAnswer::Notes(command) => {
            let report = commands::run_in_hook(command, location, current_dir);
            report.map(|report| (report, matches!(**command, Command::Context(_))))
        }
    };
    let Some((report, is_recorded)) = answer else { return Ok(()) };
    let text = if is_recorded {
        unseen_text(&report, &call, record.as_ref(), env)?
    } else {
        Some(fit::fit(&report, call.budget, call.format, crate::Screen::default())?)
    };
    text.map_or(Ok(()), |text| Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush())?))
}

/// Returns the text of the notes that the session was not shown, and records them.
fn unseen_text(
    report: &Report,
    call: &HookCall,
    record: Option<&ShownRecord>,
    env: &Env,
) -> Result<Option<String>, Error> {
    // A file that is no record is not written either.
    let read = record.map(|record| record.read().map(|seen| (record, seen))).transpose();
    let read = read.unwrap_or_else(|error| {
        warnings::add(format!("{error:#}"));
        None
    });
    let (record, seen) = read.map_or((None, HashSet::new()), |(record, seen)| (Some(record), seen));
    let is_seen = |(note, text): &ShownText| seen.contains(&hash_of_part(note, text));
    let Some((text, shown)) = fit::fit_unseen(report, call.budget, call.format, &is_seen)? else {
        return Ok(None);
    };
    if let Some(record) = record {
        let parts: Vec<String> = shown.iter().map(|(note, text)| hash_of_part(note, text)).collect();
        record.add(&parts, env.now.as_second())?;
    }
    Ok(Some(text))
}

/// Returns the record of a session; `None` if nothing is recorded.
fn record(shown: &ShownInSession, call: &HookCall, env: &Env) -> Option<ShownRecord> {
    match shown {
        ShownInSession::InCache => Some(ShownRecord::of_session(env.cache_dir.as_deref()?, call.session.as_deref()?)),
        ShownInSession::In(file) => Some(ShownRecord::in_file(env.current_dir.join(file))),
        ShownInSession::Nowhere => None,
    }
}

/// Returns the report of a text that is the whole answer.
fn text_report(text: &str) -> Report {
    Report::new(ReportHead::new(&layout::HOOK_TEXT, None), vec![Entry::Text(text.to_owned())])
}
