#!/usr/bin/env python3
"""Prints the bytes of a program by crate, from the symbols that `strip = "debuginfo"` leaves, and its sections.

    CARGO_PROFILE_DIST_STRIP=debuginfo cargo build --profile dist --locked
    packaging/size_by_crate.py target/dist/qipu

A generic function counts for the crate that defines it. Needs nm and size of binutils.
"""

import re
import subprocess
import sys
from collections import Counter

MANGLED_CRATE = re.compile(r"^<?[&*]?(?:mut |dyn )?<?([a-z_][a-z0-9_]*)(?:\[[0-9a-f]+\])?::")


def crate_of(name: str) -> str:
    found = MANGLED_CRATE.match(name)
    if found:
        return found.group(1)
    inner = re.search(r"\bas ([a-z_][a-z0-9_]*)::", name)
    return inner.group(1) if inner else "C and data without a path"


def main() -> None:
    program = sys.argv[1]
    lines = subprocess.check_output(
        ["nm", "--print-size", "--size-sort", "--demangle", program], encoding="utf-8"
    ).splitlines()
    sizes: Counter[tuple[str, str]] = Counter()
    for line in lines:
        _, size, kind, name = line.split(" ", 3)
        if kind.lower() in "trdb":
            sizes[crate_of(name), "code" if kind.lower() == "t" else "data"] += int(size, 16)
    crates = Counter()
    for (crate, _), size in sizes.items():
        crates[crate] += size
    print(f"{'crate':32} {'code':>10} {'data':>10}")
    for crate, _ in crates.most_common(40):
        print(f"{crate:32} {sizes[crate, 'code']:10} {sizes[crate, 'data']:10}")
    print(subprocess.check_output(["size", "-A", program], encoding="utf-8"))


main()
