"""The Debian package, made with dpkg-deb from the binary that was tested.

cargo-deb would build the program again; here every package holds the same bytes.
"""

import hashlib
import os
import subprocess
import tempfile
from email.utils import formatdate
from pathlib import Path

from deterministic_archives import gzipped, mode
from package_facts import ROOT, TARGETS, Facts, glibc_version, source_time
from shared_files import NOTICES, completions, licenses, manual_pages

COMPLETION_FILES = {
    "bash": "usr/share/bash-completion/completions/qipu",
    "zsh": "usr/share/zsh/vendor-completions/_qipu",
    "fish": "usr/share/fish/vendor_completions.d/qipu.fish",
}

EXTENDED_DESCRIPTION = """\
 Notes are Markdown files in the repository. qipu finds the passages that
 answer a question and fits them into an exact number of characters or tokens,
 for coding agents and for people. It needs no network, daemon or database.
"""


def control(facts: Facts, triple: str, binary: bytes, size: int) -> str:
    """The control file: https://www.debian.org/doc/debian-policy/ch-controlfields.html. `size` is in bytes."""
    major, minor = glibc_version(binary) or (2, 0)
    return (
        f"Package: qipu\nVersion: {facts.version}\nArchitecture: {TARGETS[triple].debian}\n"
        f"Maintainer: {facts.authors[0]}\nInstalled-Size: {-(-size // 1024)}\n"
        f"Depends: libc6 (>= {major}.{minor}), libgcc-s1\nSuggests: git, less\n"
        f"Section: utils\nPriority: optional\nHomepage: {facts.repository}\n"
        f"Description: {facts.title[0].lower()}{facts.title[1:]}\n{EXTENDED_DESCRIPTION}"
    )


def copyright_file(facts: Facts) -> bytes:
    """The machine-readable copyright file: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/."""
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    holder = next(line for line in text.splitlines() if line.startswith("Copyright"))
    body = text.split(holder, 1)[1].strip()
    lines = "\n".join(f" {line or '.'}" for line in body.splitlines())
    return (
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        f"Upstream-Name: qipu\nSource: {facts.repository}\n"
        "Comment: The licences of the crates and words that the program contains are in THIRD-PARTY-NOTICES.md.gz.\n\n"
        f"Files: *\nCopyright: {holder.removeprefix('Copyright (c) ')}\nLicense: Expat\n{lines}\n"
    ).encode()


def changelog(facts: Facts) -> bytes:
    head = f"qipu ({facts.version}) unstable; urgency=medium\n\n  * Release {facts.version}.\n\n"
    return f"{head} -- {facts.authors[0]}  {formatdate(source_time())}\n".encode()


def files(facts: Facts, binary: Path) -> dict[str, bytes]:
    """The files of the package by path."""
    found = {"usr/bin/qipu": binary.read_bytes()}
    found |= {f"usr/share/man/man1/{name}.gz": gzipped(page) for name, page in manual_pages(binary).items()}
    found |= {COMPLETION_FILES[shell]: script for shell, script in completions(binary).items()}
    documents = "usr/share/doc/qipu"
    found[f"{documents}/copyright"] = copyright_file(facts)
    found[f"{documents}/changelog.gz"] = gzipped(changelog(facts))
    found[f"{documents}/{NOTICES}.gz"] = gzipped(licenses()[NOTICES])
    return found


def write_tree(folder: Path, found: dict[str, bytes]) -> None:
    for name, data in found.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode(name.startswith("usr/bin/")))
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)


def make_deb(facts: Facts, triple: str, binary: Path, to: Path) -> None:
    if TARGETS[triple].debian is None:
        raise SystemExit(f"no Debian package for {triple}: only the gnu targets have one")
    found = files(facts, binary)
    sums = [f"{hashlib.md5(data).hexdigest()}  {name}\n" for name, data in sorted(found.items())]
    size = sum(map(len, found.values()))
    found["DEBIAN/control"] = control(facts, triple, found["usr/bin/qipu"], size).encode()
    found["DEBIAN/md5sums"] = "".join(sums).encode()
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), found)
        name = f"qipu_{facts.version}_{TARGETS[triple].debian}.deb"
        environment = os.environ | {"SOURCE_DATE_EPOCH": str(source_time())}
        command = ["dpkg-deb", "--build", "--root-owner-group", "-Zxz", folder, str(to / name)]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
