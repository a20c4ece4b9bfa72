//! Paths of links, relative to the folder of the file that contains them; nothing is read.

/// Resolves a path relative to the folder of `from`; `None` if the result is outside the store.
pub(crate) fn join_path(from: &str, path: &str) -> Option<String> {
    let names = normalize_path(from, path);
    (names.first() != Some(&"..")).then(|| names.join("/"))
}

/// Rewrites `path` from relative to the folder of `from` to relative to that of `to`; it may lead outside the store.
pub(crate) fn rebase_path(to: &str, from: &str, path: &str) -> String {
    path_between(to, &normalize_path(from, path))
}

/// Returns the path that replaces `old` in a note at `from` so that it leads to `to`: from the root, as `old`, or relative.
pub(crate) fn path_like(old: &str, from: &str, to: &str) -> String {
    if old.starts_with('/') { format!("/{to}") } else { relative_path(from, to) }
}

/// Returns the path of `to` relative to the folder of `from`, both in the store.
pub(crate) fn relative_path(from: &str, to: &str) -> String {
    path_between(from, &to.split('/').collect::<Vec<_>>())
}

fn path_between(from: &str, to: &[&str]) -> String {
    let folders: Vec<&str> = from.split('/').collect();
    let (folders, last) =
        (folders.get(..folders.len().saturating_sub(1)).unwrap_or_default(), to.len().saturating_sub(1));
    let shared = folders.iter().zip(to.iter().take(last)).take_while(|(a, b)| a == b).count();
    let up = folders.iter().skip(shared).map(|_| "..");
    up.chain(to.iter().skip(shared).copied()).collect::<Vec<_>>().join("/")
}

/// Resolves a path relative to the folder of `from` into components, with `..` for each folder above the store.
pub(crate) fn normalize_path<'p>(from: &'p str, path: &'p str) -> Vec<&'p str> {
    let mut names: Vec<&str> = from.split('/').collect();
    names.pop();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => drop(names.pop()),
            name => names.push(name),
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_the_same_place_from_elsewhere() {
        for (from, path, to, moved) in [
            ("notes/a.md", "b.md", "notes/c.md", "b.md"),
            ("notes/a.md", "./b.md", "mocs/c.md", "../notes/b.md"),
            ("notes/sub/a.md", "../../x/../mocs/c.md", "mocs/c.md", "c.md"),
            ("notes/a.md", "../../README.md", "notes/sub/c.md", "../../../README.md"),
            ("notes/a.md", "../..", "c.md", ".."),
        ] {
            assert_eq!(rebase_path(to, from, path), moved);
            assert_eq!(normalize_path(to, moved), normalize_path(from, path));
        }
        assert_eq!(
            (join_path("notes/a.md", "../../x").as_deref(), join_path("notes/a.md", "../x").as_deref()),
            (None, Some("x"))
        );
        assert_eq!(
            (relative_path("notes/notes/a.md", "notes/notes"), relative_path("a.md", "b.md")),
            ("../notes".into(), "b.md".into())
        );
    }
}
