//! Stores in temporary folders, made of given files.

#![allow(dead_code, clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// The bytes that must be free in memory for the temporary folders of all tests.
#[cfg(target_os = "linux")]
const ROOM: u64 = 2 << 30;

/// Makes a temporary folder: in `TMPDIR` if it is set, else in memory if there is room, since the tests write tens of
/// thousands of files, and sync them.
pub(crate) fn temp_dir() -> TempDir {
    #[cfg(target_os = "linux")]
    {
        use std::sync::LazyLock;

        static HAS_ROOM: LazyLock<bool> = LazyLock::new(|| {
            let found = rustix::fs::statvfs("/dev/shm");
            let has_room = found.is_ok_and(|found| found.f_bavail.saturating_mul(found.f_frsize) >= ROOM);
            has_room && std::env::var_os("TMPDIR").is_none()
        });
        if *HAS_ROOM && let Ok(dir) = tempfile::tempdir_in("/dev/shm") {
            return dir;
        }
    }
    tempfile::tempdir().unwrap()
}

/// Writes a new index of the store of a project, however small.
pub(crate) fn rebuild_index(project: &Path) {
    qipu::commands::rebuild_index(&qipu::store::Location::default(), project).unwrap();
}

/// Creates a store from texts, given with their paths in it.
pub(crate) fn store(files: &[(&str, &str)]) -> TempDir {
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    store_of_bytes(&files)
}

/// Creates a store of notes in a project, each note given with its id, its fields and its body.
pub(crate) fn store_of_notes<T: AsRef<str>>(notes: &[(T, T, T)]) -> TempDir {
    let dir = store(&[]);
    fs::create_dir(dir.path().join(".git")).unwrap();
    for (id, fields, body) in notes {
        let (id, fields, body) = (id.as_ref(), fields.as_ref(), body.as_ref());
        let text = format!("---\nid: {id}\n{fields}\n---\n\n{body}\n");
        write_in_store(dir.path(), &format!("notes/{id}.md"), text);
    }
    dir
}

/// Creates a store from bytes, given with their paths in it.
pub(crate) fn store_of_bytes(files: &[(&str, &[u8])]) -> TempDir {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    files.iter().for_each(|(path, bytes)| write_in_store(dir.path(), path, bytes));
    dir
}

/// Writes a file of the store below a folder, and creates the folders above the file.
pub(crate) fn write_in_store(folder: &Path, path: &str, bytes: impl AsRef<[u8]>) {
    let file = folder.join(".qipu").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, bytes).unwrap();
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the path of a temporary folder as text.
pub(crate) fn path(dir: &TempDir) -> &str {
    dir.path().to_str().unwrap()
}
