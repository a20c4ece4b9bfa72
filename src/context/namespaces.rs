//! Namespaces of notes: the part before `/` in a title, the field `namespace`, or the folder.

use crate::note::Value;
use crate::store::NoteHandle;

/// A set of namespaces.
#[derive(Debug, Default)]
pub struct Namespaces(Vec<Vec<String>>);

impl Namespaces {
    /// Parses names in any case; `a/b` is a nested namespace.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a String>) -> Self {
        let names = names.into_iter().map(|name| segments(name).collect::<Vec<_>>());
        Self(names.filter(|segments| !segments.is_empty()).collect())
    }

    /// Tells whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether a note is in any namespace.
    pub fn has_any(note: &NoteHandle) -> bool {
        note.title().contains('/') || note.local_path().matches('/').count() > 1 || !fields(note).is_empty()
    }

    /// Tells whether a note is in one of the namespaces, or is the page of one.
    pub fn contains(&self, note: &NoteHandle) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let title: Vec<String> = segments(note.title()).collect();
        let folders: Vec<String> = note.local_path().split('/').map(str::to_lowercase).collect();
        let path_folders = folders.get(1..folders.len().saturating_sub(1)).unwrap_or_default();
        let parents = title.get(..title.len().saturating_sub(1)).unwrap_or_default();
        let fields: Vec<Vec<String>> = fields(note);
        let is_in = |name: &Vec<String>| {
            let is_among = |names: &[String]| names.windows(name.len()).any(|run| run == name.as_slice());
            is_among(parents) || is_among(path_folders) || title == *name || fields.iter().any(|field| is_among(field))
        };
        self.0.iter().any(is_in)
    }
}

fn fields(note: &NoteHandle) -> Vec<Vec<String>> {
    let fields = note.extra_fields();
    let own = fields.custom.iter().chain(fields.unknown).filter(|(key, _)| key == "namespace");
    let values = own.flat_map(|(_, value)| match value {
        Value::List(items) => items.as_slice(),
        value => std::slice::from_ref(value),
    });
    let names = values.filter_map(|value| match value {
        Value::Text { text, .. } => Some(segments(text).collect()),
        _ => None,
    });
    names.collect()
}

fn segments(name: &str) -> impl Iterator<Item = String> {
    name.split('/').map(|segment| segment.trim().to_lowercase()).filter(|segment| !segment.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_of_titles_fields_and_folders_in_any_case() {
        let is_contained = |path: &str, fields: &str, names: &[&str]| {
            let note = NoteHandle::parse(path, format!("---\nid: n\n{fields}---\n").into_bytes());
            Namespaces::new(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).contains(&note)
        };
        for (path, fields) in [
            ("notes/a.md", "title: Archive/Old\n"),
            ("notes/a.md", "title: archive\n"),
            ("notes/a.md", "title: Work / ARCHIVE / Old\n"),
            ("notes/a.md", "title: A\nnamespace: Archive\n"),
            ("notes/a.md", "title: A\nnamespace: work/archive\n"),
            ("notes/a.md", "title: A\ncustom: {namespace: archive}\n"),
            ("notes/Archive/a.md", "title: A\n"),
            ("notes/x/archive/y/a.md", "title: A\n"),
        ] {
            assert!(is_contained(path, fields, &["archive"]), "{path} {fields}");
            assert!(!is_contained(path, fields, &["old/er", "notes", "arch", "archives"]), "{path} {fields}");
            assert!(!is_contained(path, fields, &[]));
        }
        for (path, fields) in [
            ("notes/a.md", "title: archived/x\n"),
            ("notes/archive.md", "title: Old/archive\n"),
            ("archive/a.md", "title: A\n"),
        ] {
            assert!(!is_contained(path, fields, &["archive"]), "{path} {fields}");
        }
        assert!(is_contained("notes/a.md", "title: Work/Archive/x\n", &["work/archive"]));
        assert!(!is_contained("notes/a.md", "title: Archive/Work/x\n", &["work/archive"]));
    }
}
