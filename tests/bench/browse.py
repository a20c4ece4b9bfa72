#!/usr/bin/env python3
"""How long `qipu browse` takes to its first screen, and from a key to what it draws.

    cargo build --release && python3 tests/bench/browse.py STORE [target/release/qipu]

Runs the binary on a pseudo-terminal of 120 by 40, as a terminal would: a time ends with the last byte that comes
before 30 ms of silence, counted without the silence.
"""

import fcntl, os, pty, select, statistics, struct, sys, termios, time

QUIET = 0.03
ROUNDS = 9


def last_output(terminal, start, patience=20.0):
    """Returns how many ms after `start` the last byte came, once there is silence."""
    last, seen = None, b""
    while True:
        ready, _, _ = select.select([terminal], [], [], patience if last is None else QUIET)
        if not ready:
            return (last - start) * 1000 if last else None, seen
        seen += os.read(terminal, 1 << 16)
        last = time.perf_counter()


def run(binary, store):
    start = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        # The size is set before anything is drawn.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        os.execv(binary, [binary, "browse", "--store", store])
    times = {"first screen": last_output(terminal, start)[0]}
    time.sleep(0.2)  # the links of the first note come by then
    last_output(terminal, time.perf_counter(), 0.2)

    def key(name, keys):
        for byte in keys:
            start = time.perf_counter()
            os.write(terminal, byte)
            took, _ = last_output(terminal, start)
            times.setdefault(name, []).append(took)
            last_output(terminal, time.perf_counter(), 0.15)  # links
    letters = [bytes([byte]) for byte in b"note about a"]
    key("first letter", letters[:1])
    key("a letter", letters[1:])
    key("a letter taken back", [b"\x7f"] * 5)
    key("one note down", [b"\x1b[B"] * 10)
    key("search of texts (Ctrl-F), first", [b"\x06"])
    key("search of texts (Ctrl-F)", [b"\x06"] * 2)
    os.write(terminal, b"\x03")
    os.waitpid(child, 0)
    return times


def main():
    store = sys.argv[1]
    binary = sys.argv[2] if len(sys.argv) > 2 else "target/release/qipu"
    run(binary, store)
    rounds = [run(binary, store) for _ in range(ROUNDS)]
    print("| | median ms | slowest ms |\n|---|---|---|")
    for name in rounds[0]:
        values = [value for times in rounds for value in (times[name] if isinstance(times[name], list) else [times[name]]) if value]
        print(f"| {name} | {statistics.median(values):.1f} | {max(values):.1f} |")


main()
