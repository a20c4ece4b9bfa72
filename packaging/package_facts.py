"""Reads what all packages say about qipu from Cargo.toml, and lists the targets that they are made for."""

import os
import re
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Target:
    """A system and a processor, under the names that each kind of package has for them."""

    os: str  # Node.js, MCP bundles: linux, darwin, win32
    cpu: str  # Node.js: x64, arm64
    debian: str | None  # architecture of Debian; None elsewhere
    wheel: str  # platform tag of Python; on Linux the processor alone

    @property
    def program(self) -> str:
        return "qipu.exe" if self.os == "win32" else "qipu"

    @property
    def npm_name(self) -> str:
        return f"qipu-{self.os}-{self.cpu}"


# The macOS versions are the oldest that Rust supports: https://doc.rust-lang.org/rustc/platform-support/apple-darwin.html
TARGETS = {
    "x86_64-unknown-linux-gnu": Target("linux", "x64", "amd64", "x86_64"),
    "aarch64-unknown-linux-gnu": Target("linux", "arm64", "arm64", "aarch64"),
    "x86_64-unknown-linux-musl": Target("linux", "x64", None, "x86_64"),
    "aarch64-unknown-linux-musl": Target("linux", "arm64", None, "aarch64"),
    "x86_64-apple-darwin": Target("darwin", "x64", None, "macosx_10_12_x86_64"),
    "aarch64-apple-darwin": Target("darwin", "arm64", None, "macosx_11_0_arm64"),
    "x86_64-pc-windows-msvc": Target("win32", "x64", None, "win_amd64"),
    "aarch64-pc-windows-msvc": Target("win32", "arm64", None, "win_arm64"),
}


@dataclass(frozen=True)
class Facts:
    """The fields of `[package]` in Cargo.toml."""

    version: str
    description: str
    license: str
    repository: str
    keywords: list[str]
    authors: list[str]

    @property
    def title(self) -> str:
        """The first words of the description, without the details after the colon."""
        return self.description.split(":")[0]

    @property
    def mcp_name(self) -> str:
        """The name in the MCP registry: the owner's domain backwards, then the program.

        https://modelcontextprotocol.io/registry/authentication
        """
        address = urlsplit(self.repository)
        owner = address.path.strip("/").split("/")[0]
        host = "io.github" if address.hostname == "github.com" else ".".join(reversed(address.hostname.split(".")))
        return f"{host}.{owner}/qipu"

    def download(self, file: str) -> str:
        """The address of a file of this version's release."""
        return f"{self.repository}/releases/download/v{self.version}/{file}"


def read_facts() -> Facts:
    package = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["package"]
    return Facts(**{name: package[name] for name in Facts.__dataclass_fields__})


def source_time() -> int:
    """The time in all packages, in seconds since 1970: SOURCE_DATE_EPOCH, else the time of the commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT))


def glibc_version(binary: bytes) -> tuple[int, int] | None:
    """The newest version of glibc that a Linux binary needs; None of a static binary."""
    versions = re.findall(rb"\0GLIBC_(\d+)\.(\d+)", binary)
    return max(((int(major), int(minor)) for major, minor in versions), default=None)
