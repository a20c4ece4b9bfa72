//! Tests only: the redo log after a crash.

use super::*;
use crate::store::collections::discover::Location;
use crate::store::fs::files::CANT_SYNC;
use crate::store::fs::rename_noreplace::{HAS_NO_LINKS, IS_OLD_FILE_SYSTEM};

/// A store with two notes, and the user's cache beside it.
struct LogLocation(tempfile::TempDir);

impl LogLocation {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("store/notes")).unwrap();
        let place = Self(dir);
        place.write("a", "A");
        place.write("b", "B");
        place
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("store").canonicalize().unwrap()
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(format!("notes/{name}.md")), text).unwrap();
    }

    fn texts(&self) -> [String; 2] {
        ["a", "b"].map(|name| fs::read_to_string(self.root().join(format!("notes/{name}.md"))).unwrap())
    }

    fn recover(&self) -> Result<usize> {
        recover(folder(&self.root()), Some(&self.cache()))
    }

    /// Begins changes as a writer that dies does.
    fn begin(&self) {
        drop(Log::begin(folder(&self.root()), Some(&self.cache()), &changes()).unwrap());
    }

    fn apply(&self, changes: &[Change]) -> Result<()> {
        let location = Location { cache: Some(self.cache()), ..Location::default() };
        let lock = Lock::take(&self.root(), "store/", &location).unwrap();
        // The files were made just now, and nobody is saving them.
        lock.wrote(
            ["a", "b"].iter().map(|name| FileVersion::at(&self.root().join(format!("notes/{name}.md"))).unwrap()),
        );
        apply(folder(&self.root()), changes, &lock)
    }
}

fn folder(root: &Path) -> ChangedFolder<'_> {
    ChangedFolder { root, is_source: false }
}

fn replace(name: &str, old: &str, new: &str) -> Change {
    Change::Replace { path: format!("notes/{name}.md"), old: old.into(), new: new.into() }
}

fn changes() -> Vec<Change> {
    vec![replace("a", "A", "new A"), replace("b", "B", "new B")]
}

#[test]
fn the_log_of_a_writer_that_died_is_carried_out_once() {
    let place = LogLocation::new();
    place.begin();
    assert_eq!(unfinished(folder(&place.root()), Some(&place.cache())).unwrap(), Some(2));
    place.write("a", "new A");
    assert_eq!((place.recover().unwrap(), place.texts()), (1, ["new A", "new B"].map(str::to_owned)));
    assert_eq!((place.recover().unwrap(), place.root().join(PENDING_FILE).exists()), (0, false));
    // A person may have put everything back: nothing is done then.
    place.write("a", "A");
    place.write("b", "B");
    place.begin();
    assert_eq!((place.recover().unwrap(), place.texts()), (0, ["A", "B"].map(str::to_owned)));
}

#[test]
fn a_log_counts_only_for_the_user_the_place_and_the_text_that_it_was_written_for() {
    let place = LogLocation::new();
    place.begin();
    place.write("a", "new A");
    let log = fs::read(place.root().join(PENDING_FILE)).unwrap();
    // A copy of the store, by git, tar or rsync; another user, or none whose cache can be found.
    let copy = LogLocation::new();
    copy.write("a", "new A");
    fs::write(copy.root().join(PENDING_FILE), &log).unwrap();
    for cache in [Some(place.cache()), Some(copy.cache()), None] {
        assert!(recover(folder(&copy.root()), cache.as_deref()).is_err());
    }
    assert!(
        recover(folder(&place.root()), Some(&copy.cache())).is_err() && recover(folder(&place.root()), None).is_err()
    );
    // Another text in its place.
    let other = String::from_utf8(log.clone()).unwrap().replace("bmV3IEI=", "ZXZpbCE=");
    fs::write(place.root().join(PENDING_FILE), other).unwrap();
    assert!(place.recover().is_err() && is_foreign(folder(&place.root()), Some(&place.cache())).unwrap());
    assert_eq!((place.texts()[1].as_str(), copy.texts()[1].as_str()), ("B", "B"));
    // What is the user's own is no reason to remove it.
    fs::write(place.root().join(PENDING_FILE), log).unwrap();
    assert!(!remove_foreign(folder(&place.root()), Some(&place.cache())).unwrap());
    assert_eq!(place.recover().unwrap(), 1);
    assert!(remove_foreign(folder(&copy.root()), Some(&copy.cache())).unwrap());
    assert_eq!((recover(folder(&copy.root()), None).unwrap(), copy.texts()[1].as_str()), (0, "B"));
    // It is carried out once, even where it comes back.
    place.write("b", "B");
    place.begin();
    let log = fs::read(place.root().join(PENDING_FILE)).unwrap();
    place.recover().unwrap();
    fs::write(place.root().join(PENDING_FILE), log).unwrap();
    assert!(place.recover().is_err());
}

/// What is left where names can't be exchanged, where there are no hard links either, and where nothing can be synced.
#[test]
fn changes_are_all_or_none_on_any_file_system() {
    for (is_old, has_no_links, cant_sync) in [(false, false, true), (true, false, false), (true, true, false)] {
        IS_OLD_FILE_SYSTEM.set(is_old);
        HAS_NO_LINKS.set(has_no_links);
        CANT_SYNC.set(cant_sync);
        let place = LogLocation::new();
        let moved = |to: &str| Change::Move {
            from: "notes/a.md".into(),
            to: format!("notes/{to}.md"),
            old: "A".into(),
            new: "new A".into(),
        };
        let create = Change::Create { path: "notes/c.md".into(), new: "C".into() };
        let failing = [create.clone(), replace("b", "B", "new B"), moved("d"), replace("c", "another", "x")];
        assert!(place.apply(&failing).is_err());
        assert_eq!(place.texts(), ["A", "B"]);
        assert_eq!(fs::read_dir(place.root().join("notes")).unwrap().count(), 2);
        place.apply(&changes()).unwrap();
        assert_eq!(place.texts(), ["new A", "new B"]);
        place.write("a", "A");
        place.apply(&[create, moved("d"), Change::Delete { path: "notes/b.md".into(), old: "new B".into() }]).unwrap();
        let names = fs::read_dir(place.root().join("notes")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["c.md", "d.md"]);
        assert!(!place.root().join(PENDING_FILE).exists());
    }
    IS_OLD_FILE_SYSTEM.set(false);
    HAS_NO_LINKS.set(false);
    CANT_SYNC.set(false);
}
