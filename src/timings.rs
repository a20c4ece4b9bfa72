//! Where the time of one call goes, for `--verbose`. Nothing is measured unless somebody asks.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

static BEGIN: OnceLock<Instant> = OnceLock::new();
static ENDS: Mutex<Vec<(&'static str, Duration)>> = Mutex::new(Vec::new());

/// Begins to measure.
pub fn begin() {
    BEGIN.get_or_init(Instant::now);
}

/// Notes down that a phase of the work is over.
pub fn end(phase: &'static str) {
    if let (Some(begin), Ok(mut ends)) = (BEGIN.get(), ENDS.lock()) {
        ends.push((phase, begin.elapsed()));
    }
}

/// Returns what was measured: for each phase when it ended, in milliseconds since the beginning, and
/// how long after the one before it; nothing where nobody asked.
pub fn lines() -> Vec<String> {
    let ends = ENDS.lock().map(|ends| ends.clone()).unwrap_or_default();
    let mut before = Duration::ZERO;
    let line = |(phase, end): &(&str, Duration)| {
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let line = format!("{:8.2} ms  {:+8.2}  {phase}", ms(*end), ms(end.saturating_sub(before)));
        before = *end;
        line
    };
    ends.iter().map(line).collect()
}
