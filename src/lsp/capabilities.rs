//! What the client can do, and what the server offers it.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::file_uri::path_of;
use super::text_position::ColumnUnit;

/// The unit of columns that is used if the client offers it.
const UTF8: &str = "utf-8";
/// The command of a lens that opens a note.
pub(super) const SHOW_NOTE: &str = "qipu.showNote";

/// The client, as far as answers depend on it.
pub(super) struct Client {
    pub(super) unit: ColumnUnit,
    /// The first folder that it works in.
    pub(super) folder: Option<PathBuf>,
    /// Its process, with whose end the server ends too.
    pub(super) process: Option<u32>,
    /// Whether an edit may say for which version of a text it is.
    pub(super) has_versions: bool,
    /// Whether it can rename files and create them.
    pub(super) can_rename_files: bool,
    pub(super) can_create_files: bool,
    pub(super) can_register_watchers: bool,
    /// Whether it can open a document that the server names.
    pub(super) can_show_documents: bool,
    /// Whether it shows symbols as a tree.
    pub(super) has_symbol_tree: bool,
}

impl Client {
    /// Reads the parameters of `initialize`. Only what answers depend on is parsed: the rest has hundreds of fields.
    pub(super) fn new(params: &Value) -> Self {
        let can = |path: &str| params.pointer(path).and_then(Value::as_bool) == Some(true);
        let names = |path: &str| -> Vec<&str> {
            let all = params.pointer(path).and_then(Value::as_array);
            all.into_iter().flatten().filter_map(Value::as_str).collect()
        };
        let operations = names("/capabilities/workspace/workspaceEdit/resourceOperations");
        // Only such an edit has operations on files, so that a client that names these takes it (Neovim).
        let has_versions = can("/capabilities/workspace/workspaceEdit/documentChanges") || !operations.is_empty();
        let has_utf8 = names("/capabilities/general/positionEncodings").contains(&UTF8);
        let symbols = "/capabilities/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport";
        Self {
            unit: if has_utf8 { ColumnUnit::Utf8 } else { ColumnUnit::Utf16 },
            folder: folder(params),
            process: params.get("processId").and_then(Value::as_u64).and_then(|process| process.try_into().ok()),
            has_versions,
            can_rename_files: operations.contains(&"rename"),
            can_create_files: operations.contains(&"create"),
            can_register_watchers: can("/capabilities/workspace/didChangeWatchedFiles/dynamicRegistration"),
            can_show_documents: can("/capabilities/window/showDocument/support"),
            has_symbol_tree: can(symbols),
        }
    }
}

/// Returns the first folder of the client's workspace; older clients give only the root.
fn folder(params: &Value) -> Option<PathBuf> {
    let folders = params.get("workspaceFolders").and_then(Value::as_array);
    let uris = folders.into_iter().flatten().filter_map(|folder| folder.get("uri")).chain(params.get("rootUri"));
    uris.filter_map(Value::as_str).find_map(|uri| path_of(&uri.parse().ok()?))
}

/// Returns the answer to `initialize`.
pub(super) fn result(client: &Client) -> Value {
    let encoding = match client.unit {
        ColumnUnit::Utf8 => UTF8,
        ColumnUnit::Utf16 => "utf-16",
    };
    json!({
        "capabilities": {
            "positionEncoding": encoding,
            // Ranges of changed text.
            "textDocumentSync": {"openClose": true, "change": 2, "save": true},
            "completionProvider": {"triggerCharacters": ["[", "#", ":", ","]},
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "renameProvider": {"prepareProvider": true},
            "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor.extract", "refactor.rewrite"]},
            "codeLensProvider": {"resolveProvider": false},
            "executeCommandProvider": {"commands": [SHOW_NOTE]},
        },
        "serverInfo": {"name": "qipu", "version": env!("CARGO_PKG_VERSION")},
    })
}
