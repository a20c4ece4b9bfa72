"""Lists the crates that the program contains, for any target, with their licences, and those of its data.

Build scripts and procedural macros run while it is built and are no part of it, nor what only they need.
"""

import json
import os
import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from package_facts import ROOT

# The licence that is chosen where a crate offers several: the first one that its expression names.
PREFERENCE = ["MIT", "Apache-2.0", "Zlib", "BSL-1.0", "Unicode-3.0", "MPL-2.0"]
# Which licence a file with a licence is, by its name.
FILE_NAMES = {
    "MIT": "MIT",
    "APACHE": "Apache-2.0",
    "ZLIB": "Zlib",
    "BOOST": "BSL-1.0",
    "UNICODE": "Unicode-3.0",
    "MPL": "MPL-2.0",
}


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    license: str  # an SPDX expression
    repository: str
    folder: Path
    id: str
    dependencies: tuple[str, ...]  # ids


def metadata() -> dict:
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def read_crates() -> list[Crate]:
    """The crates that the program contains, by name and version, without qipu itself."""
    data = metadata()
    edges = {
        node["id"]: [edge["pkg"] for edge in node["deps"] if any(kind["kind"] is None for kind in edge["dep_kinds"])]
        for node in data["resolve"]["nodes"]
    }
    macros = {p["id"] for p in data["packages"] if any("proc-macro" in target["kind"] for target in p["targets"])}
    reached, waiting = set(), [data["resolve"]["root"]]
    while waiting:
        crate = waiting.pop()
        if crate not in reached | macros:
            reached.add(crate)
            waiting.extend(edges[crate])
    reached.remove(data["resolve"]["root"])
    packages = sorted((p for p in data["packages"] if p["id"] in reached), key=lambda p: (p["name"], p["version"]))
    return [
        Crate(
            p["name"],
            p["version"],
            p["license"].replace("/", " OR "),
            p["repository"] or "",
            Path(p["manifest_path"]).parent,
            p["id"],
            tuple(sorted(reached.intersection(edges[p["id"]]))),
        )
        for p in packages
    ]


def chosen(expression: str) -> list[str]:
    """The licences under which a crate is used: all parts of an AND, the preferred one of each OR."""
    parts = [re.split(r" OR ", part.strip("() ")) for part in expression.split(" AND ")]
    return [
        min(part, key=lambda name: PREFERENCE.index(name) if name in PREFERENCE else len(PREFERENCE)) for part in parts
    ]


def read_files(folder: Path, pattern: str) -> dict[str, str]:
    """The texts of the files of a folder whose names match, in upper case, in their order."""
    names = sorted(
        name for name in os.listdir(folder) if re.search(pattern, name.upper()) and (folder / name).is_file()
    )
    return {name.upper(): (folder / name).read_text(encoding="utf-8", errors="replace") for name in names}


def texts(crate: Crate) -> list[str]:
    """The texts of the licences under which a crate is used, and its notices; a crate without files has none."""
    notices = read_files(crate.folder, r"^NOTICE|3RD|THIRD")
    licenses: dict[str, str] = {}
    for name, text in read_files(crate.folder, r"^(LICEN[CS]E|COPYING|UNLICENSE)").items():
        if name not in notices:
            # "" is a file whose name does not say which licence it is.
            known = next((license for word, license in FILE_NAMES.items() if word in name), "")
            licenses.setdefault(known, text)
    found = [licenses.get(license, licenses.get("")) for license in chosen(crate.license)]
    return [normalized(text) for text in [*found, *notices.values()] if text]


def normalized(text: str) -> str:
    """A text without differences that only its layout makes, so that equal licences are printed once."""
    paragraphs = re.split(r"\n\s*\n", text.replace("\r", "").strip())
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def notices() -> str:
    """The text of THIRD-PARTY-NOTICES.md."""
    crates = read_crates()
    silent = ", ".join(crate.name for crate in crates if not texts(crate))
    holders: dict[str, list[str]] = defaultdict(list)
    for crate in crates:
        for text in texts(crate):
            holders[text].append(f"{crate.name} {crate.version}")
    rows = "".join(f"| {crate.name} | {crate.version} | {crate.license} | {crate.repository} |\n" for crate in crates)
    parts = [
        f"## {', '.join(names)}\n\n{text}\n" for text, names in sorted(holders.items(), key=lambda item: item[1][0])
    ]
    parts += [
        f"## {path.stem}\n\n{normalized(path.read_text(encoding='utf-8'))}\n"
        for path in sorted((ROOT / "packaging").glob("*.copyright"))
    ]
    return (
        "# Third-party notices\n\n"
        "The qipu program contains these crates, some of them only on some systems, and the data after them.\n"
        f"These have no file with their licence, which the table names: {silent}.\n\n"
        "| crate | version | licence | source |\n|---|---|---|---|\n" + rows + "\n" + "\n".join(parts)
    )
