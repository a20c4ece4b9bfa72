//! The end of the client's process: its pipe may stay open, as long as another process has inherited it.

use super::connection::EventSender;

/// Reports when a process has ended. Where the system can't wait for the process of another program, only the end of
/// standard input tells.
#[cfg(target_os = "linux")]
pub(super) fn watch(process: u32, events: EventSender) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::connection::Event;

    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(error) => {
            if error == Errno::SRCH {
                events.send(Event::Closed);
            }
            return;
        }
    };
    let wait = move || {
        while poll(&mut [PollFd::new(&process, PollFlags::IN)], None) == Err(Errno::INTR) {}
        events.send(Event::Closed);
    };
    // Without the thread, the end of standard input tells.
    let _ = std::thread::Builder::new().spawn(wait);
}

/// Has no effect on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch(_: u32, _: EventSender) {}
