//! Racy timestamps: a file that changes within the granularity of its timestamps after its stat was taken keeps that
//! stat. The rule is that of git's racy-clean check ([git, racy-git](https://git-scm.com/docs/racy-git)).

use crate::store::fs::stat::FileStat;

/// The assumed granularity of timestamps in nanoseconds: more than a tick of any clock.
pub(super) const TIMESTAMP_GRANULARITY: i64 = 100_000_000;
/// The same for timestamps in whole seconds, as on FAT: two of them.
const WHOLE_SECONDS_GRANULARITY: i64 = 2_000_000_000;
/// The same if the index is on another file system than the notes, whose clocks may differ.
pub(super) const FOREIGN_GRANULARITY: i64 = 3_600_000_000_000;

/// Returns the time in nanoseconds from which on `stat` is not racy: a later write then changes one of its times. `begun`
/// is a time of the file system from before the stat, `granularity` the assumed granularity of its timestamps.
pub(super) fn racy_until(stat: FileStat, begun: i64, granularity: i64) -> i64 {
    let latest = stat.latest();
    // Either may be in whole seconds: another file system may be mounted at a directory of the store.
    latest.saturating_add(granularity.max(granularity_of(begun)).max(granularity_of(latest)))
}

fn granularity_of(timestamp: i64) -> i64 {
    if timestamp % 1_000_000_000 == 0 { WHOLE_SECONDS_GRANULARITY } else { TIMESTAMP_GRANULARITY }
}
