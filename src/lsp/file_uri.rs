//! The addresses of files (RFC 8089).

use std::path::{Component, Path, PathBuf};

use lsp_types::Uri;

use crate::note::percent_decoded_text;

/// Returns the absolute path of a file; `None` for any other address, such as that of a text without a file.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    // A host that is not empty is that of another machine, or `localhost`.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decoded_text(path.split(['?', '#']).next().unwrap_or_default());
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    let path = PathBuf::from(if is_drive { path.trim_start_matches('/') } else { &path });
    let is_plain = path.components().all(|part| part != Component::ParentDir);
    (path.is_absolute() && is_plain).then_some(path)
}

/// Returns the address of a file; `None` if its path is not UTF-8.
pub(super) fn uri_of(path: &Path) -> Option<Uri> {
    let path = path.to_str()?.replace(std::path::MAIN_SEPARATOR, "/");
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_path_comes_back_from_its_address() {
        for path in ["/a b/é#?%41.md", "/", "/x/😀[1].md", "/a:b/c"] {
            assert_eq!(path_of(&uri_of(Path::new(path)).unwrap()).as_deref(), Some(Path::new(path)));
        }
        let path = |uri: &str| uri.parse().ok().and_then(|uri| path_of(&uri));
        assert_eq!(path("file:///a%20b.md"), Some("/a b.md".into()));
        assert_eq!(path("file://localhost/a.md"), Some("/a.md".into()));
        for other in ["untitled:Untitled-1", "https://x.org/a.md", "file://host/a.md", "file:///a/../../b", "file:a"] {
            assert_eq!(path(other), None, "{other}");
        }
    }
}
