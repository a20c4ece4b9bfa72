//! Tells whether a store changed since it was read.
//!
//! On Linux the kernel reports changes of the folders that hold notes (inotify(7)). It queues a report before the
//! system call that makes the change returns, so a read of the queue that finds nothing has missed nothing: no file has
//! to be written to wait for news. Elsewhere, and where not every change passes through this kernel (network file
//! systems), the stat fingerprints of all files are compared.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::{Location, config, find_root, open_root, scan};
use crate::error::Error;

/// Returns a number that stays the same as long as no note and no config of a store changes. It costs
/// a look at every file from outside; none is read.
///
/// # Errors
/// `NoStore` when there is none, `Store` when its folders can't be read.
pub fn look(location: &Location, current_dir: &Path) -> Result<u64, Error> {
    let root = find_root(location, current_dir)?;
    let dir = open_root(&root)?;
    let scanned = scan::notes(&dir)?;
    let mut hasher = DefaultHasher::new();
    root.hash(&mut hasher);
    scanned.files.hash(&mut hasher);
    dir.look(config::FILE.as_ref()).ok().flatten().hash(&mut hasher);
    Ok(hasher.finish())
}

/// Watches a store between calls that read it.
#[derive(Debug)]
pub struct ChangeWatcher {
    location: Location,
    current_dir: PathBuf,
    source: ChangeSource,
}

/// What tells of changes.
#[derive(Debug)]
enum ChangeSource {
    /// The kernel's reports.
    #[cfg(target_os = "linux")]
    Reports(reports::Reports),
    /// The fingerprint of the store as it was; `None` where it could not be taken.
    Fingerprint(Option<u64>),
}

impl ChangeWatcher {
    /// Makes a watcher that knows nothing yet: to it, everything has changed.
    pub fn new(location: &Location, current_dir: &Path) -> Self {
        Self {
            location: location.clone(),
            current_dir: current_dir.to_path_buf(),
            source: ChangeSource::Fingerprint(None),
        }
    }

    /// Forgets all changes up to now: the store is read next.
    pub fn begin(&mut self) {
        #[cfg(target_os = "linux")]
        {
            if let ChangeSource::Reports(reports) = &mut self.source
                && reports.begin_again()
            {
                return;
            }
            let root = find_root(&self.location, &self.current_dir).ok();
            if let Some(reports) = root.and_then(|root| reports::Reports::new(&root)) {
                self.source = ChangeSource::Reports(reports);
                return;
            }
        }
        self.source = ChangeSource::Fingerprint(self.fingerprint());
    }

    /// Tells whether something changed since [`ChangeWatcher::begin`], or may have.
    pub fn has_changed(&mut self) -> bool {
        match &mut self.source {
            #[cfg(target_os = "linux")]
            ChangeSource::Reports(reports) => reports.have_changes(&self.location, &self.current_dir),
            ChangeSource::Fingerprint(before) => {
                let before = *before;
                before.is_none() || self.fingerprint() != before
            }
        }
    }

    fn fingerprint(&self) -> Option<u64> {
        look(&self.location, &self.current_dir).ok()
    }
}

#[cfg(target_os = "linux")]
mod reports {
    use std::collections::HashSet;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::super::dir_handle::{DirHandle, FileType};
    use super::super::scan::DirStat;
    use super::super::{Location, NOTE_FOLDERS, config, find_root};

    /// The most folders that are watched: a user may have some thousand watches in all on small machines
    /// (`/proc/sys/fs/inotify/max_user_watches`), and other programs need them too.
    const MAX_FOLDERS: usize = 1_000;

    /// The room for reports that are read at once, in bytes.
    const ROOM: usize = 16 * 1024;

    /// The kernel's reports of changes in a store's folders.
    #[derive(Debug)]
    pub(super) struct Reports {
        inotify: OwnedFd,
        root: PathBuf,
        /// What the store's folder is, whatever has its path.
        identity: (u64, u64),
        /// The watch of the store's folder itself.
        root_watch: i32,
        has_changes: bool,
        /// Whether folders came or went, so that others have to be watched.
        needs_rewrite: bool,
    }

    impl Reports {
        /// Begins to watch a store; `None` where the system or the file system does not allow it. Links are not
        /// followed.
        pub(super) fn new(root: &Path) -> Option<Self> {
            let dir = DirHandle::new(root).ok()?;
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let root_watch = watch(&inotify, root, &dir)?;
            let mut waiting: Vec<PathBuf> = NOTE_FOLDERS.iter().map(PathBuf::from).collect();
            waiting.retain(|folder| dir.kind(folder.as_os_str()) == Some(FileType::Folder));
            let mut watches = HashSet::new();
            while let Some(folder) = waiting.pop() {
                let Ok(below) = dir.folder(&folder) else { continue };
                // Watched before it is listed: no folder is made in between without a report.
                watches.insert(watch(&inotify, &root.join(&folder), &below)?);
                if watches.len() + waiting.len() > MAX_FOLDERS {
                    return None;
                }
                for entry in below.entries().ok()? {
                    let entry = entry.ok()?;
                    if entry.kind == FileType::Folder && !entry.name.as_encoded_bytes().starts_with(b".") {
                        waiting.push(folder.join(entry.name));
                    }
                }
            }
            let identity = identity(&dir.own_look()?);
            let root = root.to_path_buf();
            Some(Self { inotify, root, identity, root_watch, has_changes: false, needs_rewrite: false })
        }

        /// Forgets all reports up to now. Returns whether the same folders are to be watched.
        pub(super) fn begin_again(&mut self) -> bool {
            self.read();
            self.has_changes = false;
            !self.needs_rewrite
        }

        /// Tells whether a change was reported, or another store is found by now.
        pub(super) fn have_changes(&mut self, location: &Location, current_dir: &Path) -> bool {
            self.read();
            let root = find_root(location, current_dir).ok();
            let is_same = root.is_some_and(|root| {
                let look = DirHandle::new(&root).ok().and_then(|dir| dir.own_look());
                root == self.root && look.is_some_and(|look| identity(&look) == self.identity)
            });
            self.needs_rewrite |= !is_same;
            self.has_changes || self.needs_rewrite
        }

        /// Reads all reports that there are.
        fn read(&mut self) {
            let mut room = [MaybeUninit::uninit(); ROOM];
            let mut reader = Reader::new(&self.inotify, &mut room);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| name.to_bytes());
                        let (changes, outdates) = meaning(event.wd() == self.root_watch, name, event.events());
                        self.has_changes |= changes;
                        self.needs_rewrite |= outdates;
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return,
                    // Reports may be lost.
                    Err(_) => {
                        self.needs_rewrite = true;
                        return;
                    }
                }
            }
        }
    }

    /// Tells whether an event changes notes or settings, and whether other folders have to be watched after it.
    fn meaning(is_root: bool, name: Option<&[u8]>, events: ReadFlags) -> (bool, bool) {
        // Something about the watched folder itself, or reports that are lost.
        let Some(name) = name else { return (true, true) };
        if is_root {
            let is_folder = NOTE_FOLDERS.iter().any(|folder| folder.as_bytes() == name);
            return (is_folder || name == config::FILE.as_bytes(), is_folder);
        }
        let is_folder = events.contains(ReadFlags::ISDIR);
        let is_ours = !name.starts_with(b".") && (is_folder || name.ends_with(b".md"));
        (is_ours, is_ours && is_folder)
    }

    /// Watches a folder that is open, by its path; `None` where changes of it could go unreported.
    fn watch(inotify: &OwnedFd, path: &Path, folder: &DirHandle) -> Option<i32> {
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::ATTRIB
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW;
        folder.has_local_changes().then(|| inotify::add_watch(inotify, path, flags).ok())?
    }

    fn identity(look: &DirStat) -> (u64, u64) {
        (look.device, look.look.number())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_notes_folders_and_the_config_mean_something() {
            let event = |is_root, name: &str, events| meaning(is_root, Some(name.as_bytes()), events);
            assert_eq!(event(true, "cache", ReadFlags::CREATE | ReadFlags::ISDIR), (false, false));
            assert_eq!(event(true, ".lock", ReadFlags::CREATE), (false, false));
            assert_eq!(event(true, "config.toml", ReadFlags::MODIFY), (true, false));
            assert_eq!(event(true, "mocs", ReadFlags::CREATE | ReadFlags::ISDIR), (true, true));
            assert_eq!(event(false, "a.md", ReadFlags::MODIFY), (true, false));
            assert_eq!(event(false, ".qipu-tmp-abcdef", ReadFlags::CREATE), (false, false));
            assert_eq!(event(false, "a.txt", ReadFlags::MODIFY), (false, false));
            assert_eq!(event(false, "deep", ReadFlags::MOVED_TO | ReadFlags::ISDIR), (true, true));
            assert_eq!(meaning(false, None, ReadFlags::QUEUE_OVERFLOW), (true, true));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_change_of_any_note_or_of_the_config_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join(".qipu/notes");
        fs::create_dir_all(&notes).unwrap();
        let location = Location::default();
        let seen = || look(&location, dir.path()).unwrap();
        let empty = seen();
        assert_eq!(empty, seen());
        fs::write(notes.join("a.md"), "one").unwrap();
        let one = seen();
        assert_ne!(empty, one);
        fs::write(notes.join("a.md"), "three").unwrap();
        let three = seen();
        assert_ne!(one, three);
        fs::rename(notes.join("a.md"), notes.join("b.md")).unwrap();
        let renamed = seen();
        assert_ne!(three, renamed);
        fs::write(dir.path().join(".qipu/config.toml"), "").unwrap();
        assert_ne!(renamed, seen());
        assert!(look(&location, Path::new("/nowhere")).is_err());
    }

    #[test]
    fn a_watcher_hears_of_every_change_of_notes_and_of_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(".qipu").join(path);
        fs::create_dir_all(at("notes/sub")).unwrap();
        let mut watcher = ChangeWatcher::new(&Location::default(), dir.path());
        assert!(watcher.has_changed());
        let changes: [(&str, &dyn Fn()); 9] = [
            ("a note", &|| fs::write(at("notes/a.md"), "one").unwrap()),
            ("its text", &|| fs::write(at("notes/a.md"), "two").unwrap()),
            ("its name", &|| fs::rename(at("notes/a.md"), at("notes/sub/b.md")).unwrap()),
            ("a folder", &|| fs::create_dir_all(at("mocs/deep/er")).unwrap()),
            ("a note in it", &|| fs::write(at("mocs/deep/er/c.md"), "three").unwrap()),
            ("a note that goes", &|| fs::remove_file(at("mocs/deep/er/c.md")).unwrap()),
            ("the config", &|| fs::write(at("config.toml"), "").unwrap()),
            ("a folder that goes", &|| fs::rename(at("mocs/deep"), dir.path().join("gone")).unwrap()),
            ("the store", &|| {
                fs::rename(at(""), dir.path().join("old")).unwrap();
                fs::create_dir_all(at("notes")).unwrap();
            }),
        ];
        for (what, change) in changes {
            watcher.begin();
            assert!(!watcher.has_changed(), "before {what}");
            change();
            assert!(watcher.has_changed() && watcher.has_changed(), "{what}");
        }
        watcher.begin();
        fs::create_dir_all(at("cache")).unwrap();
        fs::write(at("cache/notes.index"), "").unwrap();
        fs::write(at(".lock"), "").unwrap();
        fs::write(at("notes/.hidden.md"), "").unwrap();
        fs::write(dir.path().join("gone/er/d.md"), "elsewhere").unwrap();
        assert!(!watcher.has_changed());
    }

    #[cfg(unix)]
    #[test]
    fn what_links_lead_to_is_not_watched() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        for folder in [".qipu/mocs", "outside/deep"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for link in [".qipu/notes", ".qipu/cache", ".qipu/mocs/link"] {
            std::os::unix::fs::symlink(at("outside"), at(link)).unwrap();
        }
        let mut watcher = ChangeWatcher::new(&Location::default(), dir.path());
        watcher.begin();
        fs::write(at("outside/a.md"), "").unwrap();
        fs::write(at("outside/deep/b.md"), "").unwrap();
        assert!(!watcher.has_changed());
        assert_eq!(fs::read_dir(at("outside")).unwrap().count(), 2);
    }

    #[test]
    fn more_folders_than_are_watched_are_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join(".qipu/notes");
        (0..1_100).for_each(|number| fs::create_dir_all(notes.join(number.to_string())).unwrap());
        let mut watcher = ChangeWatcher::new(&Location::default(), dir.path());
        watcher.begin();
        assert!(!watcher.has_changed());
        assert!(matches!(watcher.source, ChangeSource::Fingerprint(Some(_))));
        fs::write(notes.join("7/a.md"), "").unwrap();
        assert!(watcher.has_changed());
    }
}
