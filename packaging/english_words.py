#!/usr/bin/env python3
"""Makes `src/search/query/english_words.bin`, a Bloom filter of the English words that are no typing errors.

    packaging/english_words.py           takes the lists from the Debian packages wamerican and wbritish
    packaging/english_words.py FOLDER    takes american-english and british-english from a folder, as /usr/share/dict

The packages are made from SCOWL, whose licence, `english_words.copyright`, is their file `copyright`. In version
2020.12.07-2, 62,156 words in American and British spelling are at least five letters a to z, which makes 74,472 bytes.

The filter (Bloom, Space/time trade-offs in hash coding with allowable errors, 1970) takes each of them for a word, and
another string with a probability of 1 %. Its seven hashes come from two (Kirsch and Mitzenmacher, Less hashing, same
performance, 2006): the first and second eight bytes of the SHA-256 of the word. `english_words.rs` reads it.
"""

import hashlib
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from package_facts import ROOT

FILTER = ROOT / "src/search/query/english_words.bin"
PACKAGES = ["wamerican", "wbritish"]
LISTS = ["american-english", "british-english"]
# No names, which have a capital, and no forms with an apostrophe. Shorter words are never corrected.
WORD = re.compile(r"[a-z]{5,}")
ERROR_RATE = 0.01
HASHES = 7  # the best number for this error rate


def read_words(folder: Path) -> list[str]:
    lines = [line for name in LISTS for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    return sorted({line for line in lines if WORD.fullmatch(line)})


def download_words() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "--quiet", "download", *PACKAGES], cwd=folder, check=True)
        for package in sorted(Path(folder).glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        return read_words(Path(folder) / "usr/share/dict")


def bloom_filter(words: list[str]) -> bytes:
    size = math.ceil(-len(words) * math.log(ERROR_RATE) / math.log(2) ** 2 / 8)
    data = bytearray(size)
    for word in words:
        digest = hashlib.sha256(word.encode()).digest()
        first, step = (int.from_bytes(digest[start : start + 8], "little") for start in (0, 8))
        for i in range(HASHES):
            bit = (first + i * step) % 2**64 % (size * 8)
            data[bit // 8] |= 1 << bit % 8
    return bytes(data)


def main() -> None:
    words = read_words(Path(sys.argv[1])) if len(sys.argv) > 1 else download_words()
    data = bloom_filter(words)
    FILTER.write_bytes(data)
    print(f"{len(words)} words in {len(data)} bytes")


main()
