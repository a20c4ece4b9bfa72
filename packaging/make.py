#!/usr/bin/env python3
"""Makes the packages of qipu. specs/internals/releases.md says what each of them contains.

packaging/make.py packages --binary FILE --target TRIPLE --to DIR KIND...
packaging/make.py release [--tag TAG --repository URL] DIR
"""

import argparse
from pathlib import Path

from debian_package import make_deb
from mcp_bundle import bundle_name, make_mcpb
from npm_packages import make_launcher, make_npm
from package_facts import TARGETS, Facts, read_facts
from python_wheel import make_wheel
from release_archive import archive_name, make_archive
from release_files import write_release_files

KINDS = {"archive": make_archive, "deb": make_deb, "npm": make_npm, "wheel": make_wheel, "mcpb": make_mcpb}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes the packages of qipu")
    actions = parser.add_subparsers(dest="action", required=True)
    packages = actions.add_parser("packages", help="make packages of one binary")
    packages.add_argument("--binary", type=Path, required=True)
    packages.add_argument("--target", choices=TARGETS, required=True)
    packages.add_argument("--to", type=Path, required=True)
    packages.add_argument("kinds", nargs="+", choices=KINDS, metavar="KIND", help=", ".join(KINDS))
    release = actions.add_parser(
        "release", help="add what describes the packages in a folder: launcher, formula, checksums …"
    )
    release.add_argument(
        "--tag", help="fail if this is not the tag of the version in Cargo.toml, or a package of a release is missing"
    )
    release.add_argument("--repository", help="fail if this is not the repository in Cargo.toml")
    release.add_argument("folder", type=Path)
    return parser.parse_args()


def check_release(facts: Facts, tag: str | None, repository: str | None) -> None:
    """Fails before anything is published under another version or address than the packages say."""
    for name, given, stated in [("tag", tag, f"v{facts.version}"), ("repository", repository, facts.repository)]:
        if given not in (None, stated):
            raise SystemExit(f"the {name} is {given}, but Cargo.toml says {stated}")


def check_complete(facts: Facts, folder: Path) -> None:
    """Fails if an archive or bundle that a release names is not in the folder."""
    names = [archive_name(facts, triple) for triple in TARGETS]
    names += [bundle_name(facts, triple) for triple, target in TARGETS.items() if target.debian is None]
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise SystemExit(f"the release lacks {', '.join(missing)}")


def main() -> None:
    arguments = parse_arguments()
    facts = read_facts()
    if arguments.action == "release":
        check_release(facts, arguments.tag, arguments.repository)
        if arguments.tag is not None:
            check_complete(facts, arguments.folder)
        make_launcher(facts, arguments.folder)
        write_release_files(facts, arguments.folder)
        return
    arguments.to.mkdir(parents=True, exist_ok=True)
    for kind in arguments.kinds:
        KINDS[kind](facts, arguments.target, arguments.binary.resolve(), arguments.to)


if __name__ == "__main__":
    main()
