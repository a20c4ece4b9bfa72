"""The npm packages: one with the program for each system, and `qipu`, whose launcher runs the one that fits.

npm installs of the optional dependencies only that whose `os` and `cpu` fit. On Linux it is the static binary, so glibc and
musl need no packages of their own.
"""

import json
from pathlib import Path

from deterministic_archives import Entry, write_tar_gz
from package_facts import ROOT, TARGETS, Facts, Target, source_time
from shared_files import LICENSES, licenses


def common(facts: Facts) -> dict[str, object]:
    return {
        "version": facts.version,
        "description": facts.description,
        "license": facts.license,
        "repository": {"type": "git", "url": f"git+{facts.repository}.git"},
    }


def write_package(package: dict[str, object], files: list[Entry], to: Path) -> None:
    text = json.dumps(package, indent=2) + "\n"
    entries: list[Entry] = [("package.json", text.encode(), False), *files]
    entries += [(name, data, False) for name, data in licenses().items()]
    path = to / f"{package['name']}-{package['version']}.tgz"
    write_tar_gz(path, [(f"package/{name}", data, is_program) for name, data, is_program in entries], source_time())


def make_npm(facts: Facts, triple: str, binary: Path, to: Path) -> None:
    target = TARGETS[triple]
    package = {"name": target.npm_name, **common(facts), "os": [target.os], "cpu": [target.cpu]}
    package["files"] = [target.program, *LICENSES]
    # Package managers that keep packages in zip files unpack this one: a program can't run inside one.
    package["preferUnplugged"] = True
    write_package(package, [(target.program, binary.read_bytes(), True)], to)


def make_launcher(facts: Facts, to: Path) -> None:
    targets: dict[str, Target] = {target.npm_name: target for target in TARGETS.values()}
    package = {"name": "qipu", "mcpName": facts.mcp_name, **common(facts), "keywords": facts.keywords}
    package["bin"] = {"qipu": "launcher.js"}
    package["engines"] = {"node": ">=18"}
    package["files"] = ["launcher.js", *LICENSES]
    package["optionalDependencies"] = {name: facts.version for name in sorted(targets)}
    launcher = (ROOT / "packaging/launcher.js").read_bytes()
    readme = (ROOT / "README.md").read_bytes()
    write_package(package, [("launcher.js", launcher, True), ("README.md", readme, False)], to)
