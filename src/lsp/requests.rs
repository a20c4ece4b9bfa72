//! The requests of the protocol, each with the function that answers it.

use lsp_types::{ExecuteCommandParams, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::capabilities::SHOW_NOTE;
use super::connection::{INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, ResponseError};
use super::file_uri::path_of;
use super::view::View;
use super::{actions, completion, hover, lenses, navigation, rename, symbols};
use crate::error::Error;
use crate::escape::abbreviated;

/// The answer to a request.
pub(super) struct Answer {
    pub(super) value: Value,
    /// A request to the client behind the answer: its method and parameters.
    pub(super) follow_up: Option<(&'static str, Value)>,
}

/// Answers a request.
///
/// # Errors
/// As the protocol has them: an unknown method, invalid parameters, or a failure.
pub(super) fn answer(view: &View<'_>, method: &str, params: Value) -> Result<Answer, ResponseError> {
    let value = match method {
        "textDocument/completion" => with(view, params, completion::complete),
        "textDocument/definition" => with(view, params, navigation::definition),
        "textDocument/references" => with(view, params, navigation::references),
        "textDocument/hover" => with(view, params, hover::hover),
        "textDocument/documentSymbol" => with(view, params, symbols::of_document),
        "workspace/symbol" => with(view, params, symbols::of_workspace),
        "textDocument/prepareRename" => with(view, params, rename::prepare),
        "textDocument/rename" => with(view, params, rename::rename),
        "textDocument/codeAction" => with(view, params, actions::actions),
        "textDocument/codeLens" => with(view, params, lenses::lenses),
        "workspace/executeCommand" => return execute(view, params),
        "initialize" => Err(ResponseError::new(INVALID_REQUEST, "the server is initialized already")),
        _ => Err(ResponseError::new(METHOD_NOT_FOUND, format!("unknown method `{}`", abbreviated(method)))),
    };
    Ok(Answer { value: value?, follow_up: None })
}

fn with<P: DeserializeOwned, R: Serialize>(
    view: &View<'_>,
    params: Value,
    answer: impl FnOnce(&View<'_>, P) -> Result<R, Error>,
) -> Result<Value, ResponseError> {
    let value = serde_json::to_value(answer(view, parse(params)?)?);
    value.map_err(|error| Error::failure(error.to_string()).into())
}

fn parse<P: DeserializeOwned>(params: Value) -> Result<P, ResponseError> {
    serde_json::from_value(params).map_err(|error| ResponseError::new(INVALID_PARAMS, error.to_string()))
}

/// Opens the note that a lens names.
fn execute(view: &View<'_>, params: Value) -> Result<Answer, ResponseError> {
    let command: ExecuteCommandParams = parse(params)?;
    let uri = command.arguments.into_iter().next().and_then(|uri| serde_json::from_value::<Uri>(uri).ok());
    let is_note = |uri: &Uri| path_of(uri).is_some_and(|path| view.store().note_path(&path).is_some());
    match uri.filter(|uri| command.command == SHOW_NOTE && is_note(uri)) {
        Some(uri) if view.client.can_show_documents => {
            let show = json!({"uri": uri, "takeFocus": true});
            Ok(Answer { value: Value::Null, follow_up: Some(("window/showDocument", show)) })
        }
        Some(_) => Ok(Answer { value: Value::Null, follow_up: None }),
        None => Err(ResponseError::new(INVALID_PARAMS, "unknown command or argument")),
    }
}
