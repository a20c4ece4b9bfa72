//! `qipu tasks done`: ticks off items of task lists.

use super::{PlannedChange, plan_text};
use crate::error::{Error, ErrorKind};
use crate::note::Note;
use crate::store::{NoteHandle, NoteIdx, Store};

/// Plans to tick off tasks, each `ID:LINE` with the line in the file. One that is done stays as it is. Of each file only the
/// characters in the brackets change, not `updated`, so that the lines of other tasks stay true.
pub(super) fn plan_done(store: &Store, targets: &[String]) -> Result<Vec<PlannedChange>, Error> {
    let mut lines_of: Vec<(NoteIdx, Vec<usize>)> = Vec::new();
    for target in targets {
        let (name, line) = parse_target(target)?;
        let note = store.resolve_to_change(name)?;
        match lines_of.iter_mut().find(|(other, _)| *other == note) {
            Some((_, lines)) => lines.push(line),
            None => lines_of.push((note, vec![line])),
        }
    }
    lines_of.into_iter().map(|(note, lines)| plan_note(store, &store.notes()[note], &lines)).collect()
}

/// Splits `ID:LINE`. An id may contain a colon.
fn parse_target(target: &str) -> Result<(&str, usize), Error> {
    let parsed = target.rsplit_once(':').and_then(|(name, line)| Some((name, line.parse().ok()?)));
    parsed.filter(|(name, line)| !name.is_empty() && *line > 0).ok_or_else(|| {
        Error::usage(format!("`{target}` is not ID:LINE")).hint("`qipu tasks` lists the tasks with their lines")
    })
}

fn plan_note(store: &Store, note: &NoteHandle, lines: &[usize]) -> Result<PlannedChange, Error> {
    let old = Note::parse_as(note.dialect(), &note.path, store.text_of(note)?.into_bytes());
    let tasks = old.tasks();
    let mut marks = Vec::new();
    for line in lines {
        let Some(task) = tasks.iter().find(|task| task.line == *line) else {
            return Err(no_task(note, *line));
        };
        marks.extend((!task.is_done).then_some(task.mark));
    }
    plan_text(store, note, |text| {
        let mut bytes = text.as_bytes().to_vec();
        for mark in &marks {
            bytes.get_mut(*mark).map(|byte| *byte = b'x').ok_or("its text is not what was read")?;
        }
        String::from_utf8(bytes).map_err(|error| error.to_string())
    })
}

fn no_task(note: &NoteHandle, line: usize) -> Error {
    Error::new(ErrorKind::Failure, format!("line {line} of `{}` is not a task", note.id))
        .hint(format!("nothing was changed; `qipu tasks --all --where 'id = \"{}\"'` lists its tasks", note.id))
}
