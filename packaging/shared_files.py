"""The files that go with the program into several packages: licences, manual pages, completions."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

from package_facts import ROOT
from third_party import notices

NOTICES = "THIRD-PARTY-NOTICES.md"
LICENSES = ["LICENSE", NOTICES]
SHELLS = {"bash": "qipu.bash", "zsh": "_qipu", "fish": "qipu.fish"}


@cache
def licenses() -> dict[str, bytes]:
    """The licence of qipu and those of the crates and words that the program contains, by file name."""
    return {"LICENSE": (ROOT / "LICENSE").read_bytes(), NOTICES: notices().encode()}


def documents() -> dict[str, bytes]:
    """The licences and the introduction, by file name."""
    return {"README.md": (ROOT / "README.md").read_bytes()} | licenses()


def manual_pages(binary: Path) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "man", "--dir", folder], check=True, stdout=subprocess.DEVNULL)
        return {page.name: page.read_bytes() for page in sorted(Path(folder).iterdir())}


def completions(binary: Path) -> dict[str, bytes]:
    """The completion script for each shell of SHELLS."""
    return {shell: subprocess.check_output([binary, "completions", shell]) for shell in SHELLS}
