//! The process: arguments in, exit code out. The only place that prints errors.

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use qipu::env::{Env, WaitPolicy};
use qipu::error::ErrorKind;

// A cold start is mostly small allocations on several threads.
#[cfg(feature = "allocator")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    qipu::env::survive_file_size_limit();
    let result = Env::of_process().map_err(Into::into).and_then(|env| {
        let env = Env { waits: WaitPolicy { warn, ..env.waits }, ..env };
        qipu::run(&args, &env, &mut io::stdout())
    });
    for line in qipu::timings::lines().into_iter().chain(qipu::warnings::take_lines()) {
        let _ = writeln!(io::stderr(), "{line}");
    }
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    // A reader that closes the pipe, such as `head`, is no failure.
    if error.kind != ErrorKind::ClosedPipe {
        let has_color = qipu::cli::wants_color(&args).unwrap_or_else(qipu::env::has_color_for_errors);
        let text = if qipu::cli::wants_json(&args) { error.to_json() } else { error.to_text(has_color) };
        // Without standard error, there is nowhere left to report to.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    ExitCode::from(error.kind.exit_code())
}

/// Prints a warning that can't wait for the end of the call.
fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "{}", qipu::warnings::line(text));
}
