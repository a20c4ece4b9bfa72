//! Compares the stats of files with those that the index recorded.

use super::Index;
use super::file_table::FILES_PER_BLOCK;
use super::racy_timestamps::racy_until;
use crate::store::fs::stat::FileEntry;

/// The result of comparing the stats of files with the index.
pub(in crate::store) struct StatDiff {
    /// For each file its slot in the index; `None` if it is new, changed or racy.
    pub(crate) slots: Vec<Option<usize>>,
    /// For each file with an equal but racy stat the time until which that is racy, in nanoseconds.
    racy: Vec<i64>,
    count: usize,
}

impl StatDiff {
    pub(in crate::store) fn unchanged(&self) -> usize {
        self.slots.iter().flatten().count()
    }

    /// Counts the files that are new, changed or removed. A racy one counts if it would not be racy in an index begun
    /// at `now`.
    pub(crate) fn changed(&self, now: impl FnOnce() -> Option<i64>) -> usize {
        let equal = self.unchanged() + self.racy.len();
        let changed = (self.slots.len() - equal).max(self.count.saturating_sub(equal));
        if self.racy.is_empty() {
            return changed;
        }
        let now = now().unwrap_or(i64::MIN);
        changed + self.racy.iter().filter(|racy_until| **racy_until < now).count()
    }
}

impl Index {
    /// Compares the stats of files, sorted by path, with the index. One whose real path may differ counts as changed.
    pub(in crate::store) fn compare_stats(&self, files: &[FileEntry]) -> StatDiff {
        let mut racy = Vec::new();
        let mut indexed = self.files();
        let mut stat = indexed.step();
        let mut same_path = |entry: &FileEntry| {
            if let Some(slot) = entry.slot {
                let block = self.files.get(slot / FILES_PER_BLOCK)?;
                return Some((slot, block.stat(slot % FILES_PER_BLOCK, self.header.begun)?));
            }
            while stat.is_some() && *indexed.path < *entry.path {
                stat = indexed.step();
            }
            let is_match = *indexed.path == *entry.path && entry.real_path.is_none();
            stat.filter(|_| is_match).map(|stat| (indexed.slot(), stat))
        };
        let unchanged = |entry: &FileEntry| {
            let (slot, stat) = same_path(entry)?;
            if stat != entry.stat {
                return None;
            }
            let racy_until = racy_until(stat, self.header.begun, self.header.granularity);
            if racy_until >= self.header.begun {
                racy.push(racy_until);
                return None;
            }
            Some(slot)
        };
        let slots = files.iter().map(unchanged).collect();
        StatDiff { slots, racy, count: self.count() }
    }
}
