//! Watches a store's folder, so that nothing is read again while nothing changed.
//!
//! What the system tells of changes comes a moment later. So that no change that was made before a call
//! is missed, each call leaves a file in the store's cache and waits until it hears of that: it has heard
//! of everything before it then.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use notify::event::{EventKind, ModifyKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

/// How long news of a change is waited for. Without any, everything is read again.
const PATIENCE: Duration = Duration::from_millis(250);

/// Watches a store.
pub(super) struct Watch {
    heard: Arc<Heard>,
    cache: PathBuf,
    calls: std::cell::Cell<u64>,
    /// Watches as long as it is kept.
    _watcher: RecommendedWatcher,
}

/// What was heard.
#[derive(Default)]
struct Heard {
    news: Mutex<News>,
    more: Condvar,
}

#[derive(Default)]
struct News {
    has_changed: bool,
    /// The file that was left last and heard of.
    token: Option<PathBuf>,
}

impl Watch {
    /// Begins to watch; `None` where the system or the store does not allow it.
    pub(super) fn new(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let cache = root.join("cache");
        std::fs::create_dir_all(&cache).ok()?;
        let heard = Arc::new(Heard::default());
        let (listener, own) = (Arc::clone(&heard), cache.clone());
        let listen = move |event: notify::Result<Event>| listener.take(event, &own);
        let mut watcher = notify::recommended_watcher(listen).ok()?;
        watcher.watch(&root, RecursiveMode::Recursive).ok()?;
        // Folders may be links to others, which are not watched through them.
        for name in ["notes", "mocs", "journals"] {
            let folder = root.join(name);
            if folder.is_symlink() {
                watcher.watch(&folder.canonicalize().ok()?, RecursiveMode::Recursive).ok()?;
            }
        }
        Some(Self { heard, cache, calls: std::cell::Cell::new(0), _watcher: watcher })
    }

    /// Forgets what was heard: everything is read now.
    pub(super) fn begin(&self) {
        if let Ok(mut news) = self.heard.news.lock() {
            news.has_changed = false;
        }
    }

    /// Tells whether something changed since [`Watch::begin`], or may have.
    pub(super) fn has_changed(&self) -> bool {
        self.calls.set(self.calls.get() + 1);
        let token = self.cache.join(format!("watch-{}-{}", std::process::id(), self.calls.get()));
        if std::fs::write(&token, "").is_err() {
            return true;
        }
        let Ok(news) = self.heard.news.lock() else { return true };
        let is_unheard = |news: &mut News| news.token.as_ref() != Some(&token);
        let waited = self.heard.more.wait_timeout_while(news, PATIENCE, is_unheard);
        // One that is left over is in nobody's way.
        let _ = std::fs::remove_file(&token);
        waited.map_or(true, |(news, time)| time.timed_out() || news.has_changed)
    }
}

impl Heard {
    fn take(&self, event: notify::Result<Event>, cache: &Path) {
        let Ok(mut news) = self.news.lock() else { return };
        match event {
            Ok(event) if is_idle(&event) => {}
            Ok(event) => {
                for path in event.paths {
                    if !path.starts_with(cache) {
                        news.has_changed = true;
                    } else if event.kind.is_create() {
                        news.token = Some(path);
                    }
                }
            }
            // News may have been lost.
            Err(_) => news.has_changed = true,
        }
        self.more.notify_all();
    }
}

/// Tells whether an event says only that something was looked at.
fn is_idle(event: &Event) -> bool {
    !event.need_rescan()
        && (matches!(event.kind, EventKind::Access(_))
            || matches!(event.kind, EventKind::Modify(ModifyKind::Metadata(notify::event::MetadataKind::AccessTime))))
}
