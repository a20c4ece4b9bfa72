//! The files and folders that are not read, and the reasons.

/// A file or folder of the store that is not read: its path in the store, and the reason.
pub type IgnoredEntry = (String, &'static str);

/// The reasons for files and folders that can't be read.
pub(in crate::store) const FILE_UNREADABLE: &str = "the file can't be read";
pub(in crate::store) const FOLDER_UNREADABLE: &str = "the folder can't be read, so its notes are missing";
/// The reasons for files of a source that are skipped.
pub(in crate::store) const FILE_HUGE: &str = "the file is longer than 4 MiB";
pub(in crate::store) const FILE_BINARY: &str = "the file is binary";
/// The reasons for files of patterns that do not count as a whole.
pub(in crate::store) const PATTERNS_CUT: &str = "only its first 64 KiB and 1,000 patterns count";
pub(in crate::store) const PATTERNS_IGNORED: &str =
    "its patterns do not count: with them, the source would have more than 4,000";

/// Whether the reason why a file is not read, or not as a whole, is that sources skip such files.
pub fn is_skipped(reason: &str) -> bool {
    [FILE_HUGE, FILE_BINARY, PATTERNS_CUT, PATTERNS_IGNORED].contains(&reason)
}
