#!/usr/bin/env python3
"""Measures `qipu review --kind code` in a repository with a history: python3 tests/bench/code_references.py target/release/qipu [REFERENCES].

The repository has 100 files and 300 commits that edit, insert, move and delete lines and rename files. The references
were recorded at random commits, so that all verdicts occur. Prints milliseconds, best and median of ten warm runs,
of `review --kind code`, and of `context` on a note with references.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter

FILES, COMMITS, LINES, RUNS, ANCHORS_PER_NOTE = 100, 300, 100, 10, 5
CHECK = ["review", "--kind", "code", "--limit", "100000"]
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def word():
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=9))


def new_line():
    return f"fn {word()}({word()}) {{" if random.random() < 0.2 else f"    {word()} {word()};"


def main(program, count):
    random.seed(1)
    folder = tempfile.mkdtemp()
    git = ["git", "-C", folder]
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True, env=ENV)
    files = {f"src/m{n % 10}/f{n}.rs": [new_line() for _ in range(LINES)] for n in range(FILES)}
    snapshots, stream = [], []
    for commit in range(COMMITS):
        for path in random.sample(sorted(files), 6):
            lines = files[path] = list(files[path])
            at = random.randrange(len(lines))
            kind = random.random()
            if kind < 0.5:
                lines[at : at + 4] = [new_line() for _ in lines[at : at + 4]]
            elif kind < 0.8:
                lines[at:at] = [new_line() for _ in range(5)]
            elif kind < 0.95:
                del lines[at : at + 5]
            else:
                files[path.replace(".rs", "x.rs")] = files.pop(path)
        snapshots.append({path: list(lines) for path, lines in files.items()})
        head = f"commit refs/heads/main\nmark :{commit + 1}\ncommitter a <a@b> {1700000000 + commit} +0000\ndata 1\nm\ndeleteall\n"
        stream.append(head)
        for path, lines in files.items():
            text = "\n".join(lines) + "\n"
            stream.append(f"M 100644 inline {path}\ndata {len(text)}\n{text}\n")
    marks = os.path.join(folder, ".git/marks")
    fast_import = [*git, "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(fast_import, input="".join(stream).encode(), check=True, env=ENV)
    subprocess.run([*git, "reset", "--quiet", "--hard"], check=True, env=ENV)
    ids = dict(line.split() for line in open(marks))
    os.makedirs(os.path.join(folder, ".qipu/notes"))
    for note in range(count // ANCHORS_PER_NOTE):
        items = ""
        for _ in range(ANCHORS_PER_NOTE):
            commit = random.randrange(COMMITS)
            path, lines = random.choice(sorted(snapshots[commit].items()))
            line = random.randrange(len(lines))
            text = lines[line]
            symbol = f"    symbol: {text[3:12]}\n" if text.startswith("fn ") else ""
            items += f"  - path: {path}\n{symbol}    line: {line + 1}\n    text: '{text}'\n    commit: {ids[f':{commit + 1}']}\n"
        with open(os.path.join(folder, f".qipu/notes/n{note}.md"), "w") as file:
            file.write(f"---\nid: n{note}\ntitle: Note {note}\ncode:\n{items}---\nText {word()}.\n")
    answer = json.loads(subprocess.run([program, *CHECK, "--json"], cwd=folder, env=ENV, capture_output=True, check=True).stdout)
    print(folder, dict(Counter(finding["kind"] for finding in answer["worklist"])), "of", count)
    for args in (CHECK, ["context", "--note", "n1", "--records"]):
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            subprocess.run([program, *args], cwd=folder, env=ENV, capture_output=True, check=True)
            times.append((time.perf_counter() - start) * 1000)
        times.sort()
        print(f"qipu {' '.join(args)}: best {times[0]:.1f} ms, median {times[RUNS // 2]:.1f} ms")


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
