//! What a new note lacks for hooks to show it: a type, and references to the code that its session edited.

use std::path::Path;

use super::{PlannedChange, code_reference};
use crate::context::stated_type;
use crate::env::{AgentSession, Env};
use crate::note::{MOC, is_project_path};
use crate::report::{DiagnosticEntry, Severity};
use crate::request::{Action, ChangeRequest, MCP, NewFields, generated_by};
use crate::store::{ShownRecord, Store};

/// The value of `--code` for the files that the session edited last.
const AUTO: &str = "auto";
/// The most of these files.
const MAX_EDITED: usize = 3;

/// Returns the files of the project that the session of an agent tool edited last, as its hooks recorded them, the last first.
pub(super) fn edited_files(agent: Option<&AgentSession>, env: &Env) -> Vec<String> {
    let session = agent.and_then(|agent| agent.id.as_deref()).zip(env.cache_dir.as_deref());
    let record = session.and_then(|(id, cache)| ShownRecord::of_session(cache, id).read().ok());
    let mut files: Vec<String> = Vec::new();
    for file in record.map(|record| record.edited).unwrap_or_default().into_iter().rev() {
        if !files.contains(&file) && files.len() < MAX_EDITED {
            files.push(file);
        }
    }
    files
}

/// Returns a request in which the edited files stand in place of `--code auto`. Files that can't be referred to, such as those
/// that git does not track, are left out.
pub(super) fn with_edited_files(store: &Store, request: &ChangeRequest, edited: &[String]) -> ChangeRequest {
    let mut request = request.clone();
    if let Action::Create { fields, .. } | Action::Update { fields, .. } = &mut request.action
        && fields.codes.iter().any(|code| code == AUTO)
    {
        fields.codes.retain(|code| code != AUTO);
        fields.codes.extend(referable(store, edited));
    }
    request
}

/// Returns the paths, as `--code` takes them, of the files to which a note may refer.
fn referable(store: &Store, edited: &[String]) -> Vec<String> {
    let Some(folder) = store.project_folder() else { return Vec::new() };
    let paths = edited.iter().filter(|file| is_project_path(file)).map(|file| folder.join(Path::new(file)));
    let paths = paths.filter_map(|path| path.to_str().map(str::to_owned));
    paths.filter(|path| code_reference::read(store, std::slice::from_ref(path)).is_ok()).collect()
}

/// Returns what a new note is offered.
pub(super) fn findings(
    store: &Store,
    planned: &PlannedChange,
    fields: &NewFields,
    edited: &[String],
) -> Vec<DiagnosticEntry> {
    let (id, is_tool) = (&planned.id, fields.custom.contains(&generated_by(MCP)));
    let offer = |code, message| DiagnosticEntry {
        id: Some(id.clone()),
        severity: Severity::Info,
        ..DiagnosticEntry::warning(code, store.shown(&planned.path), message)
    };
    let stated = fields.body.as_deref().filter(|_| fields.kind.is_none()).and_then(stated_type);
    let of_type = stated.map(|kind| {
        let call =
            if is_tool { format!("`update` with type {kind}") } else { format!("`qipu update {id} --type {kind}`") };
        offer("type-offered", format!("it reads like a {kind}: {call} lets the primer show it"))
    });
    let has_code = !fields.codes.is_empty() || fields.kind.as_deref() == Some(MOC) || is_tool;
    let file = edited.iter().find(|file| !has_code && !referable(store, std::slice::from_ref(file)).is_empty());
    let of_code = file.map(|file| {
        let message =
            format!("this session edited {file}: `qipu update {id} --code auto` shows the note before the next edit");
        offer("code-offered", message)
    });
    of_type.into_iter().chain(of_code).collect()
}
