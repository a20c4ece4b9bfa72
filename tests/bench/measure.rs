//! What is measured of a process: its wall time and the most memory it holds.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// GNU time, which knows the memory that a process had at most.
const TIME: &str = "/usr/bin/time";
/// Rounds before those that count.
const WARM_UP_ROUNDS: usize = 2;
/// How long the rounds that count shall take in all, and how many there are at least and at most.
const SECONDS: f64 = 20.0;
const ROUNDS: (usize, usize) = (7, 100);
/// Runs of each command whose memory is looked at.
const MEMORY_RUNS: usize = 3;
/// If one run of each takes longer, each is timed once, and its memory is looked at once.
const MAX_ROUND: Duration = Duration::from_secs(30);

/// A command that is measured.
pub(crate) struct Subject {
    /// The name in the table.
    pub(crate) name: String,
    program: PathBuf,
    args: Vec<String>,
    dir: PathBuf,
    /// A folder that is removed before each run.
    without: Option<PathBuf>,
    /// The file that is its standard input, and whether it must answer.
    input: Option<(PathBuf, bool)>,
}

/// What was measured of a command.
pub(crate) struct Measurement {
    /// The wall times of its runs, the shortest first.
    times: Vec<Duration>,
    /// The peak memory of the process, in MB; `None` if the system does not report it.
    pub(crate) peak_mb: Option<f64>,
}

impl Measurement {
    pub(crate) fn runs(&self) -> usize {
        self.times.len()
    }

    pub(crate) fn median_ms(&self) -> f64 {
        let upper = self.times.len() / 2;
        let lower = (self.times.len() - 1) / 2;
        (milliseconds(self.times[lower]) + milliseconds(self.times[upper])) / 2.0
    }

    pub(crate) fn min_ms(&self) -> f64 {
        self.times.first().copied().map_or(f64::NAN, milliseconds)
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

impl Subject {
    /// Makes a command that runs in `dir`, named by `name` in the table.
    pub(crate) fn new(name: impl Into<String>, program: &Path, args: &[&str], dir: &Path) -> Self {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Self { name: name.into(), program: program.to_owned(), args, dir: dir.to_owned(), without: None, input: None }
    }

    /// Removes a folder before each run.
    pub(crate) fn without(self, folder: &Path) -> Self {
        Self { without: Some(folder.to_owned()), ..self }
    }

    /// Gives it a file as standard input. With `is_answered` false, it must write nothing.
    pub(crate) fn reading(self, file: &Path, is_answered: bool) -> Self {
        Self { input: Some((file.to_owned(), is_answered)), ..self }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        self.surround(&mut command);
        command
    }

    fn prepare(&self) {
        if let Some(folder) = &self.without {
            let _ = std::fs::remove_dir_all(folder);
        }
    }

    fn surround(&self, command: &mut Command) {
        let input = self.input.as_ref().and_then(|(file, _)| std::fs::File::open(file).ok());
        let input = input.map_or_else(Stdio::null, Stdio::from);
        command.current_dir(&self.dir).stdin(input).stdout(Stdio::null());
        for name in ["QIPU_STORE", "QIPU_TODAY", "RIPGREP_CONFIG_PATH"] {
            command.env_remove(name);
        }
    }

    /// Runs it once and makes sure that it does something.
    fn check(&self) -> Result<()> {
        let output = self.command().stdout(Stdio::piped()).stderr(Stdio::piped()).output();
        let output = output.with_context(|| format!("can't run `{}`", self.name))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{}` ended with {}: {said}", self.name, output.status);
        let is_answered = self.input.as_ref().is_none_or(|(_, is_answered)| *is_answered);
        ensure!(output.stdout.is_empty() != is_answered, "`{}` wrote {} bytes", self.name, output.stdout.len());
        Ok(())
    }

    /// Runs it and returns the time from before its start until after its end.
    fn time(&self) -> Result<Duration> {
        self.prepare();
        let mut command = self.command();
        let start = Instant::now();
        let status = command.status().with_context(|| format!("can't run `{}`", self.name))?;
        let time = start.elapsed();
        ensure!(status.success(), "`{}` ended with {status}", self.name);
        Ok(time)
    }

    /// Returns the most memory of several runs in MB.
    fn peak_mb(&self, runs: usize) -> Result<Option<f64>> {
        let mut peak = None;
        for _ in 0..runs {
            self.prepare();
            let kib = if Path::new(TIME).is_file() { self.peak_by_time()? } else { self.peak_by_polling()? };
            peak = peak.max(kib);
        }
        Ok(peak.map(|kib| kib as f64 * 1024.0 / 1e6))
    }

    /// Asks GNU time; another `time` gives `None`.
    fn peak_by_time(&self) -> Result<Option<u64>> {
        let mut command = Command::new(TIME);
        command.args(["-f", "%M"]).arg(&self.program).args(&self.args);
        self.surround(&mut command);
        let output = command.stderr(Stdio::piped()).output().with_context(|| format!("can't run {TIME}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let peak = said.lines().last().and_then(|line| line.trim().parse().ok());
        if peak.is_some() {
            ensure!(output.status.success(), "`{}` ended with {}: {said}", self.name, output.status);
        }
        Ok(peak)
    }

    /// Samples the process as often as possible while it runs. May miss its last state.
    fn peak_by_polling(&self) -> Result<Option<u64>> {
        let mut child = self.command().spawn().with_context(|| format!("can't run `{}`", self.name))?;
        let status_file = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut peak = None;
        loop {
            peak = peak.max(peak_in(&std::fs::read_to_string(&status_file).unwrap_or_default()));
            match child.try_wait()? {
                None => {}
                Some(status) if status.success() => return Ok(peak),
                Some(status) => bail!("`{}` ended with {status}", self.name),
            }
        }
    }
}

/// Finds the peak in `/proc/PID/status`, in KiB.
fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Measures commands: one run of each in turn, so that noise hits all alike.
pub(crate) fn measure(subjects: &[Subject]) -> Result<Vec<Measurement>> {
    let start = Instant::now();
    subjects.iter().try_for_each(Subject::check)?;
    let (mut rounds, mut memory_runs) = (1, 1);
    if start.elapsed() < MAX_ROUND {
        let mut round_time = Duration::MAX;
        for _ in 0..WARM_UP_ROUNDS {
            let times: Result<Vec<_>> = subjects.iter().map(Subject::time).collect();
            round_time = round_time.min(times?.into_iter().sum());
        }
        rounds = ((SECONDS / round_time.as_secs_f64()) as usize).clamp(ROUNDS.0, ROUNDS.1);
        memory_runs = MEMORY_RUNS;
    }
    let mut times = vec![Vec::new(); subjects.len()];
    for _ in 0..rounds {
        for (subject, times) in subjects.iter().zip(&mut times) {
            times.push(subject.time()?);
        }
    }
    let measurement = |(subject, mut times): (&Subject, Vec<Duration>)| {
        times.sort();
        Ok(Measurement { times, peak_mb: subject.peak_mb(memory_runs)? })
    };
    subjects.iter().zip(times).map(measurement).collect()
}
