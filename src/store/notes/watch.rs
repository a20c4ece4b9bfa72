//! Detection of changes of a store since it was read.
//!
//! On Linux the kernel queues a report of a change (inotify(7)) before the system call that makes it returns: an empty
//! queue means that nothing has changed. Elsewhere, and on network file systems, the stats of all files are compared.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::store::collections::discover::Location;
use crate::store::collections::find::{FoundCollection, find_collections};
use crate::store::collections::layout::CONFIG_FILE;
use crate::store::index::scan;

/// Returns a fingerprint of the collections of a store: a hash over the stats of their notes and configs. Reads no note.
///
/// # Errors
/// `NoStore` if there is none, `Store` if its folders can't be read.
pub fn fingerprint(location: &Location, current_dir: &Path) -> Result<u64, Error> {
    let found = find_collections(location, current_dir)?;
    let mut hasher = DefaultHasher::new();
    for (ordinal, collection) in found.all.iter().enumerate() {
        let FoundCollection { name, root, dir, rules, .. } = collection;
        (name, root).hash(&mut hasher);
        let scanned = match rules {
            Some(rules) => rules.scan(dir),
            None => scan::notes(dir, None, true),
        };
        match scanned {
            Ok(scanned) => scanned.files.hash(&mut hasher),
            Err(error) if ordinal == 0 => return Err(error),
            Err(_) => {}
        }
        dir.file_stat(CONFIG_FILE.as_ref()).ok().flatten().hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Returns the root of the store if there is no other collection: the kernel's reports are for a store alone.
#[cfg(target_os = "linux")]
fn only_store(location: &Location, current_dir: &Path) -> Option<PathBuf> {
    match find_collections(location, current_dir).ok()?.all.as_slice() {
        [FoundCollection { root, rules: None, .. }] => Some(root.clone()),
        _ => None,
    }
}

/// Watches a store between calls that read it.
#[derive(Debug)]
pub struct ChangeWatcher {
    location: Location,
    current_dir: PathBuf,
    /// The kernel's reports; `None` where it gives none.
    #[cfg(target_os = "linux")]
    reports: Option<reports::Reports>,
    /// The last fingerprint of a store without reports; `None` if it could not be taken.
    last_fingerprint: Option<u64>,
}

impl ChangeWatcher {
    /// Makes a watcher that reports a change until [`ChangeWatcher::begin`].
    pub fn new(location: &Location, current_dir: &Path) -> Self {
        Self {
            location: location.clone(),
            current_dir: current_dir.to_path_buf(),
            #[cfg(target_os = "linux")]
            reports: None,
            last_fingerprint: None,
        }
    }

    /// Discards all changes up to now; to be called before the store is read.
    pub fn begin(&mut self) {
        #[cfg(target_os = "linux")]
        {
            if !self.reports.as_mut().is_some_and(reports::Reports::discard) {
                let root = only_store(&self.location, &self.current_dir);
                self.reports = root.and_then(|root| reports::Reports::new(&root));
            }
            if self.reports.is_some() {
                return;
            }
        }
        self.last_fingerprint = self.fingerprint();
    }

    /// Whether something changed, or may have changed, since [`ChangeWatcher::begin`].
    pub fn has_changed(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(reports) = &mut self.reports {
            return reports.have_changes(&self.location, &self.current_dir);
        }
        self.last_fingerprint.is_none() || self.fingerprint() != self.last_fingerprint
    }

    fn fingerprint(&self) -> Option<u64> {
        fingerprint(&self.location, &self.current_dir).ok()
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

    use crate::note::NOTE_FOLDERS;
    use crate::store::collections::discover::Location;
    use crate::store::collections::layout::CONFIG_FILE;
    use crate::store::fs::dir_handle::{DirHandle, FileType};
    use crate::store::fs::stat::DirStat;

    /// The most folders that are watched: a user may have some thousand watches in all on small machines
    /// (`/proc/sys/fs/inotify/max_user_watches`), and other programs need them too.
    const MAX_FOLDERS: usize = 1_000;

    /// The length of the buffer for reports, in bytes.
    const BUFFER_LEN: usize = 16 * 1024;

    #[derive(Debug)]
    pub(super) struct Reports {
        inotify: OwnedFd,
        root: PathBuf,
        /// The device and inode of the store's folder.
        identity: (u64, u64),
        /// The watch of the store's folder itself.
        root_watch: i32,
        has_changes: bool,
        /// Whether directories were created or removed, so that the watches are outdated.
        is_outdated: bool,
    }

    impl Reports {
        /// Watches a store; `None` if the system or the file system does not allow it. Symbolic links are not followed.
        pub(super) fn new(root: &Path) -> Option<Self> {
            let dir = DirHandle::new(root).ok()?;
            let inotify = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            let root_watch = watch(&inotify, root, &dir)?;
            let mut waiting: Vec<PathBuf> = NOTE_FOLDERS.iter().map(PathBuf::from).collect();
            waiting.retain(|folder| dir.kind(folder.as_os_str()) == Some(FileType::Folder));
            let mut watches = HashSet::new();
            while let Some(folder) = waiting.pop() {
                let Ok(below) = dir.folder(&folder) else { continue };
                // Watched before it is listed, so that a directory created in between is reported.
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
            let identity = identity(&dir.dir_stat()?);
            let root = root.to_path_buf();
            Some(Self { inotify, root, identity, root_watch, has_changes: false, is_outdated: false })
        }

        /// Discards all reports up to now. Returns whether the watches are still complete.
        pub(super) fn discard(&mut self) -> bool {
            self.read();
            self.has_changes = false;
            !self.is_outdated
        }

        /// Whether a change was reported, or the location now names another store.
        pub(super) fn have_changes(&mut self, location: &Location, current_dir: &Path) -> bool {
            self.read();
            let root = super::only_store(location, current_dir);
            let is_same = root.is_some_and(|root| {
                let stat = DirHandle::new(&root).ok().and_then(|dir| dir.dir_stat());
                root == self.root && stat.is_some_and(|stat| identity(&stat) == self.identity)
            });
            self.is_outdated |= !is_same;
            self.has_changes || self.is_outdated
        }

        fn read(&mut self) {
            let mut buffer = [MaybeUninit::uninit(); BUFFER_LEN];
            let mut reader = Reader::new(&self.inotify, &mut buffer);
            loop {
                match reader.next() {
                    Ok(event) => {
                        let name = event.file_name().map(|name| name.to_bytes());
                        let (changes, outdates) = effect_of(event.wd() == self.root_watch, name, event.events());
                        self.has_changes |= changes;
                        self.is_outdated |= outdates;
                    }
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return,
                    // Reports may have been lost.
                    Err(_) => {
                        self.is_outdated = true;
                        return;
                    }
                }
            }
        }
    }

    /// Returns whether an event changes notes or settings, and whether it makes the watches outdated.
    fn effect_of(is_root: bool, name: Option<&[u8]>, events: ReadFlags) -> (bool, bool) {
        // An event of the watched directory itself, or an overflow of the queue.
        let Some(name) = name else { return (true, true) };
        if is_root {
            let is_folder = NOTE_FOLDERS.iter().any(|folder| folder.as_bytes() == name);
            return (is_folder || name == CONFIG_FILE.as_bytes(), is_folder);
        }
        let is_folder = events.contains(ReadFlags::ISDIR);
        let is_ours = !name.starts_with(b".") && (is_folder || name.ends_with(b".md"));
        (is_ours, is_ours && is_folder)
    }

    /// Watches an open directory by its path; `None` if changes of it could go unreported.
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

    fn identity(stat: &DirStat) -> (u64, u64) {
        (stat.device, stat.stat.inode)
    }

    #[cfg(test)]
    mod tests {
        use crate::store::notes::watch::reports::*;

        #[test]
        fn only_notes_folders_and_the_config_mean_something() {
            let event = |is_root, name: &str, events| effect_of(is_root, Some(name.as_bytes()), events);
            assert_eq!(event(true, "cache", ReadFlags::CREATE | ReadFlags::ISDIR), (false, false));
            assert_eq!(event(true, ".lock", ReadFlags::CREATE), (false, false));
            assert_eq!(event(true, "config.toml", ReadFlags::MODIFY), (true, false));
            assert_eq!(event(true, "mocs", ReadFlags::CREATE | ReadFlags::ISDIR), (true, true));
            assert_eq!(event(false, "a.md", ReadFlags::MODIFY), (true, false));
            assert_eq!(event(false, ".qipu-tmp-abcdef", ReadFlags::CREATE), (false, false));
            assert_eq!(event(false, "a.txt", ReadFlags::MODIFY), (false, false));
            assert_eq!(event(false, "deep", ReadFlags::MOVED_TO | ReadFlags::ISDIR), (true, true));
            assert_eq!(effect_of(false, None, ReadFlags::QUEUE_OVERFLOW), (true, true));
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
        let seen = || fingerprint(&location, dir.path()).unwrap();
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
        assert!(fingerprint(&location, Path::new("/nowhere")).is_err());
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
        assert!(watcher.last_fingerprint.is_some());
        fs::write(notes.join("7/a.md"), "").unwrap();
        assert!(watcher.has_changed());
    }
}
