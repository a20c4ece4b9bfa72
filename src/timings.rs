//! Measures the phases of one call for `--verbose`. Measures nothing before [`begin`].

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

static BEGIN: OnceLock<Instant> = OnceLock::new();
static ENDS: Mutex<Vec<(&'static str, Duration)>> = Mutex::new(Vec::new());

/// Starts the measurement.
pub fn begin() {
    BEGIN.get_or_init(Instant::now);
}

/// Records the end of a phase.
pub fn end(phase: &'static str) {
    if let (Some(begin), Ok(mut ends)) = (BEGIN.get(), ENDS.lock()) {
        ends.push((phase, begin.elapsed()));
    }
}

/// Returns a line for each phase: its end in milliseconds since the start, and the time since the phase before it. Empty
/// without a measurement.
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
