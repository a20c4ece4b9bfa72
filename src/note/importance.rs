//! Notes that weigh more than others in a project: decisions and warnings, by their type, a tag or a folder.

use super::{JOURNAL, Note};

/// The names of tags, types and folders that mark decisions.
const DECISION_NAMES: [&str; 4] = ["decision", "decisions", "adr", "adrs"];

/// The names of tags, types and folders that mark warnings.
const WARNING_NAMES: [&str; 9] =
    ["warning", "warnings", "gotcha", "gotchas", "pitfall", "pitfalls", "caution", "danger", "footgun"];

/// Tells whether a note is a decision by its type, a tag or a folder. Maps and journals are none.
pub(crate) fn is_decision(note: &Note) -> bool {
    is_marked(note, &DECISION_NAMES)
}

/// Tells whether a note is a warning, as [`is_decision`].
pub(crate) fn is_warning(note: &Note) -> bool {
    is_marked(note, &WARNING_NAMES)
}

fn is_marked(note: &Note, names: &[&str]) -> bool {
    let is_name = |text: &str| names.iter().any(|name| name.eq_ignore_ascii_case(text));
    let is_in_folder = || note.path.rsplit_once('/').is_some_and(|(folder, _)| folder.split('/').any(is_name));
    let is_tagged = || note.tags.iter().any(|tag| is_name(tag.trim_start_matches('#')));
    (is_name(&note.kind) || is_in_folder() || is_tagged()) && !note.is_moc() && note.kind != JOURNAL
}
