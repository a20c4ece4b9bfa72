"""The files that go with the program into several packages: licences, manual pages, completions."""

import subprocess
import tempfile
from pathlib import Path

from package_facts import ROOT

LICENSES = ["LICENSE", "THIRD-PARTY-NOTICES.md"]
SHELLS = {"bash": "qipu.bash", "zsh": "_qipu", "fish": "qipu.fish"}


def documents() -> dict[str, bytes]:
    """The licences and the introduction, by file name."""
    return {name: (ROOT / name).read_bytes() for name in ["README.md", *LICENSES]}


def manual_pages(binary: Path) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "man", "--dir", folder], check=True, stdout=subprocess.DEVNULL)
        return {page.name: page.read_bytes() for page in sorted(Path(folder).iterdir())}


def completions(binary: Path) -> dict[str, bytes]:
    """The completion script for each shell of SHELLS."""
    return {shell: subprocess.check_output([binary, "completions", shell]) for shell in SHELLS}
