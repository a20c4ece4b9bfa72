"""Times answers from five collections against those from one store with the same notes.

    python3 tests/bench/collections.py target/release/qipu STORE [RUNS]

STORE: a folder with `.qipu`, such as one that `cargo bench --bench processes -- 10000` makes. The notes are divided among a
store, two stores in `packages/` and two sources. Prints the median of the processor time and of the wall time of each
command, in milliseconds, and their ratios; the calls are made in turn.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMANDS = {
    "prime": ["prime", "--records"],
    "search": ["search", "WORDS", "--records"],
    "context": ["context", "--query", "WORDS", "--format", "records", "--max-chars", "8000"],
}
PARTS = [".qipu/notes", "packages/a/.qipu/notes", "packages/b/.qipu/notes", "docs", "wiki"]
CONFIG = '[[documents]]\npath = "docs"\n[[documents]]\npath = "wiki"\n[[stores]]\npath = "packages/*"\n'


def layouts(store: Path, folder: Path) -> tuple[Path, Path]:
    one, five = folder / "one", folder / "five"
    for layout in (one, five):
        (layout / ".git").mkdir(parents=True)
    for number, file in enumerate(sorted(store.glob(".qipu/*/**/*.md"))):
        for target in (one / ".qipu/notes", five / PARTS[number % 5]):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target / file.name)
    (five / ".qipu/config.toml").write_text(CONFIG)
    return one, five


def call(binary: str, args: list[str], folder: Path, env: dict[str, str]) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run([binary, *args], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used * 1000, wall * 1000


def main() -> None:
    binary, store = os.path.abspath(sys.argv[1]), Path(sys.argv[2])
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        one, five = layouts(store, folder)
        env = {"HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "PATH": os.environ["PATH"]}
        text = next(one.glob(".qipu/notes/*.md")).read_text().split("---\n")[-1]
        words = " ".join([word for word in text.split() if word.isalpha() and len(word) > 4][:3])
        # Times of files must be old enough to be told apart from those of later changes.
        time.sleep(0.3)
        for name, args in COMMANDS.items():
            args = [words if word == "WORDS" else word for word in args]
            times: dict[str, list[tuple[float, float]]] = {"one": [], "five": []}
            for _ in range(3):
                call(binary, args, one, env), call(binary, args, five, env)
            for _ in range(runs):
                times["one"].append(call(binary, args, one, env))
                times["five"].append(call(binary, args, five, env))
            (cpu, wall), (cpu_five, wall_five) = (
                [statistics.median(column) for column in zip(*times[layout])] for layout in ("one", "five")
            )
            print(f"{name:8} cpu {cpu:6.1f} {cpu_five:6.1f} {cpu_five / cpu:5.2f}   "
                  f"wall {wall:6.1f} {wall_five:6.1f} {wall_five / wall:5.2f}")


if __name__ == "__main__":
    main()
