//! The arguments of `qipu export`.

use std::path::Path;

use crate::error::Error;
use crate::request::{Command, ExportForm, ExportRequest};

/// Checks flags that depend on each other.
pub(super) fn command(request: ExportRequest) -> Result<Command, Error> {
    if request.index_name.is_some() && request.form != ExportForm::Bulk {
        return Err(Error::usage("--index-name works only with --as bulk"));
    }
    if request.state_file.as_deref() == Some(Path::new("-")) {
        return Err(Error::usage("--since-index needs a file that can be read and written again"));
    }
    Ok(Command::Export(request))
}
