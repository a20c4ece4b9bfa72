"""The Python wheel: the program in `scripts`, for `uvx qipu` and `pip install qipu`.

The format is https://packaging.python.org/en/latest/specifications/binary-distribution-format/. maturin would build the
program again; here every package holds the same bytes.
"""

import base64
import hashlib
import re
from pathlib import Path

from deterministic_archives import Entry, write_zip
from package_facts import ROOT, TARGETS, Facts, glibc_version, source_time
from shared_files import LICENSES, licenses


def platform_tag(triple: str, binary: bytes) -> str:
    """The platform tag; on Linux by the glibc that the binary needs (PEP 600), for a static one also musl (PEP 656)."""
    target = TARGETS[triple]
    if target.os != "linux":
        return target.wheel
    version = glibc_version(binary)
    if version is None:
        return f"manylinux_2_17_{target.wheel}.musllinux_1_1_{target.wheel}"
    return f"manylinux_{version[0]}_{version[1]}_{target.wheel}"


def metadata(facts: Facts) -> bytes:
    """The core metadata. The MCP registry looks for `mcp-name` in the description to prove who owns the package."""
    fields = [
        "Metadata-Version: 2.4",
        "Name: qipu",
        f"Version: {facts.version}",
        f"Summary: {facts.description}",
        f"Keywords: {','.join(facts.keywords)}",
        f"License-Expression: {facts.license}",
        *(f"License-File: {name}" for name in LICENSES),
        f"Project-URL: Repository, {facts.repository}",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    # The page of the package has no other files of the repository.
    address = f"{facts.repository}/blob/v{facts.version}/"
    readme = re.sub(r"\]\((?=[\w.])(?!https?:)", f"]({address}", (ROOT / "README.md").read_text(encoding="utf-8"))
    return ("\n".join(fields) + f"\n\n<!-- mcp-name: {facts.mcp_name} -->\n\n{readme}").encode()


def record(entries: list[Entry], own_name: str) -> bytes:
    """The list of all files with their hashes and sizes."""
    lines = []
    for name, data, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return ("".join(lines) + f"{own_name},,\n").encode()


def make_wheel(facts: Facts, triple: str, binary: Path, to: Path) -> None:
    program = binary.read_bytes()
    tag = platform_tag(triple, program)
    tags = "".join(f"Tag: py3-none-{part}\n" for part in tag.split("."))
    info = f"qipu-{facts.version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: qipu-packaging ({facts.version})\nRoot-Is-Purelib: false\n{tags}"
    entries: list[Entry] = [(f"qipu-{facts.version}.data/scripts/{TARGETS[triple].program}", program, True)]
    entries += [(f"{info}/licenses/{name}", data, False) for name, data in licenses().items()]
    entries += [(f"{info}/METADATA", metadata(facts), False), (f"{info}/WHEEL", wheel.encode(), False)]
    entries.append((f"{info}/RECORD", record(entries, f"{info}/RECORD"), False))
    write_zip(to / f"qipu-{facts.version}-py3-none-{tag}.whl", entries, source_time())
