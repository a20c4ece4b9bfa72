//! Runs a fuzz target under libFuzzer. The environment variable `QIPU_FUZZ_TARGET` names it; `fuzz/run` sets it. All targets
//! share one program, which is linked once.

#![no_main]

mod targets;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use targets::Target;

/// The most bytes of one allocation: 1 GiB. libFuzzer limits them only together with a sanitizer.
const MAX_ALLOCATION: usize = 1 << 30;

/// The allocator of the system, which ends the process with a crash for a larger allocation.
struct LimitedAllocator;

impl LimitedAllocator {
    fn check(bytes: usize) {
        if bytes > MAX_ALLOCATION {
            // A panic may not leave an allocator.
            eprintln!("ERROR: an allocation of {bytes} bytes");
            std::process::abort();
        }
    }
}

// SAFETY: all calls go to `System`.
unsafe impl GlobalAlloc for LimitedAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::check(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::check(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        Self::check(bytes);
        unsafe { System.realloc(pointer, layout, bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: LimitedAllocator = LimitedAllocator;

/// The target of this process.
static TARGET: LazyLock<Target> = LazyLock::new(|| {
    // One worker: parallel iterators are deterministic. Not the current thread, which waits for others in some commands.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    let name = std::env::var("QIPU_FUZZ_TARGET").unwrap_or_default();
    if let Some(folder) = std::env::var_os("QIPU_FUZZ_SEEDS") {
        targets::write_seeds(folder.as_ref());
    }
    match targets::find(&name) {
        Some(target) => target,
        None => {
            let names: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
            panic!("QIPU_FUZZ_TARGET is `{name}`, which is none of {}", names.join(", "));
        }
    }
});

/// The most processor time of one input, in hundredths of a second: five seconds, or those in `QIPU_FUZZ_SECONDS`. The time
/// limit of libFuzzer counts what other processes take, too.
static MAX_TICKS: LazyLock<u64> = LazyLock::new(|| {
    let seconds = std::env::var("QIPU_FUZZ_SECONDS").ok().and_then(|seconds| seconds.parse::<u64>().ok());
    seconds.unwrap_or(5) * 100
});

/// Returns the processor time that this process and its threads have taken, in ticks of a hundredth of a second; 0 where the
/// system does not tell.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(12).take(2);
    fields.filter_map(|field| field.parse::<u64>().ok()).sum()
}

fuzz_target!(|data: &[u8]| {
    let before = ticks();
    TARGET(data);
    let taken = ticks() - before;
    assert!(taken <= *MAX_TICKS, "the input took {taken} hundredths of a second");
});
