//! What a new note lacks for hooks to show it: a type, and references to the code that its session edited.

use super::{PlannedChange, code_reference, is_of_tool};
use crate::context::stated_type;
use crate::note::MOC;
use crate::report::{DiagnosticEntry, Severity};
use crate::request::{Action, ChangeRequest, NewFields};
use crate::store::{Change, ShownRecord, Store};

/// The value of `--code` for the files that the session edited last.
const AUTO: &str = "auto";
/// The most of these files.
const MAX_EDITED: usize = 3;

/// Returns the files of the project that a session edited last and to which a note may refer: git tracks them, and they are no
/// notes. Each is the path in the project, and as `--code` takes it. For an offer one is enough, and for an action that neither
/// takes nor offers them none: whether a file may be referred to, git is asked, with the lock held.
pub(super) fn edited_files(store: &Store, action: &Action, session: Option<&ShownRecord>) -> Vec<(String, String)> {
    let most = match action {
        Action::Create { fields, .. } | Action::Update { fields, .. } if has_auto(fields) => MAX_EDITED,
        Action::Create { fields, .. } if lacks_code(fields) => 1,
        _ => return Vec::new(),
    };
    let record = session.and_then(|session| session.read().ok());
    let Some((record, folder)) = record.zip(store.project_folder()) else { return Vec::new() };
    let is_of_store = |file: &str| file.split('/').any(|name| name == ".qipu");
    let files = record.edited_in(&folder).into_iter().filter(|file| !is_of_store(file));
    let paths = files.filter_map(|file| Some((file.to_owned(), folder.join(file).to_str()?.to_owned())));
    paths.filter(|(_, path)| code_reference::read(store, std::slice::from_ref(path)).is_ok()).take(most).collect()
}

fn has_auto(fields: &NewFields) -> bool {
    fields.codes.iter().any(|code| code == AUTO)
}

/// Whether a new note is offered a reference to code.
fn lacks_code(fields: &NewFields) -> bool {
    fields.codes.is_empty() && fields.kind.as_deref() != Some(MOC) && !is_of_tool(fields)
}

/// Returns a request with edited files in place of `--code auto`, and whether there are none.
pub(super) fn with_edited_files(request: &ChangeRequest, edited: &[(String, String)]) -> (ChangeRequest, bool) {
    let mut request = request.clone();
    match &mut request.action {
        Action::Create { fields, .. } | Action::Update { fields, .. } if has_auto(fields) => {
            fields.codes.retain(|code| code != AUTO);
            fields.codes.extend(edited.iter().map(|(_, path)| path.clone()));
            (request, edited.is_empty())
        }
        _ => (request, false),
    }
}

/// Warns that `--code auto` recorded nothing.
pub(super) fn nothing_edited(store: &Store, planned: &PlannedChange) -> DiagnosticEntry {
    let message = "hooks saw this session edit no file of the project; name one: `--code PATH`".to_owned();
    let id = Some(planned.id.clone());
    DiagnosticEntry { id, ..DiagnosticEntry::warning("code-unknown", store.shown(&planned.path), message) }
}

/// Returns what a new note is offered.
pub(super) fn findings(
    store: &Store,
    planned: &PlannedChange,
    fields: &NewFields,
    edited: &[(String, String)],
) -> Vec<DiagnosticEntry> {
    let (id, is_tool) = (&planned.id, is_of_tool(fields));
    let offer = |code, message| DiagnosticEntry {
        id: Some(id.clone()),
        severity: Severity::Info,
        ..DiagnosticEntry::warning(code, store.shown(&planned.path), message)
    };
    let Some(Change::Create { path, new }) = &planned.change else { return Vec::new() };
    let note = store.parse_handle(path, new.clone());
    let has_type = fields.kind.is_some() || note.flags.is_decision || note.flags.is_warning || note.is_draft();
    let stated = fields.body.as_deref().filter(|_| !has_type).and_then(stated_type);
    let of_type = stated.map(|kind| {
        let call =
            if is_tool { format!("`update` with type {kind}") } else { format!("`qipu update {id} --type {kind}`") };
        offer("type-offered", format!("it reads like a {kind}: {call} lets hooks show it first"))
    });
    let of_code = edited.first().filter(|_| lacks_code(fields)).map(|(file, _)| {
        let message =
            format!("this session edited {file}: `qipu update {id} --code auto` shows the note before the next edit");
        offer("code-offered", message)
    });
    of_type.into_iter().chain(of_code).collect()
}
