//! `qipu merge-driver`: merges two versions of a note. Called by git, see `gitattributes(5)`.

use std::path::Path;

use crate::error::{Error, ErrorKind};
use crate::note::MAX_BYTES;
use crate::note::merge::{is_sound, merge};
use crate::request::MergeDriverRequest;
use crate::store::{atomic_write, files, git};

/// Merges the fields by their meaning and the rest by lines, and writes the result over our side. A text whose fields
/// can't be told apart is merged by lines as a whole.
///
/// # Errors
/// `Check` when conflicts are left; `Store` when nothing could be merged, in which case our side stays as it was.
pub(super) fn run(request: &MergeDriverRequest, current_dir: &Path) -> Result<(), Error> {
    let broken = |error: anyhow::Error| Error::new(ErrorKind::Store, format!("{error:#}"));
    let path = |path: &Path| current_dir.join(path);
    let read = |name: &Path| {
        let bytes = files::read_bytes_if_there(&path(name)).map_err(broken)?;
        bytes.ok_or_else(|| Error::new(ErrorKind::Store, format!("file not found: {}", name.display())))
    };
    let sides = [read(&request.ours)?, read(&request.base)?, read(&request.theirs)?];
    let (by_fields, texts) = match merge_fields(&sides) {
        Some(texts) => (true, texts),
        None => (false, sides),
    };
    let (merged, count) = git::merge_by_lines(current_dir, &texts, request.marker_size).map_err(broken)?;
    atomic_write::replace_unconditionally(&path(&request.ours), &merged).map_err(broken)?;
    let conflicts = |what: &str| Err(Error::new(ErrorKind::Check, what));
    match count {
        0 if by_fields && !std::str::from_utf8(&merged).is_ok_and(is_sound) => {
            conflicts("a field was merged by lines, and the frontmatter is no longer valid YAML: check it by hand")
        }
        0 => Ok(()),
        1 => conflicts("1 conflict remains"),
        many => conflicts(&format!("{many} conflicts remain")),
    }
}

/// Returns the three texts with their fields merged; `None` if they are not notes with separable fields.
fn merge_fields(sides: &[Vec<u8>; 3]) -> Option<[Vec<u8>; 3]> {
    if sides.iter().any(|bytes| bytes.len() > MAX_BYTES) {
        return None;
    }
    let [ours, base, theirs] = sides.each_ref().map(|bytes| std::str::from_utf8(bytes).ok());
    let merged = merge(base?, ours?, theirs?).ok()?;
    Some([merged.ours, merged.base, merged.theirs].map(String::into_bytes))
}
