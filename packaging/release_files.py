"""The files of a release that describe its packages: `server.json`, the Homebrew formula, the bill of materials, checksums."""

import hashlib
import json
import uuid
from datetime import UTC, datetime
from pathlib import Path

from mcp_bundle import bundle_name
from package_facts import ROOT, TARGETS, Facts, source_time
from release_archive import archive_name
from third_party import read_crates

SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def server_json(facts: Facts, folder: Path) -> dict[str, object]:
    """The entry in the MCP registry: the npm package, the wheel, and each MCP bundle in the folder."""
    stdio = {"type": "stdio"}
    arguments = [{"type": "positional", "value": "mcp"}]
    packages: list[dict[str, object]] = [
        {
            "registryType": kind,
            "identifier": "qipu",
            "version": facts.version,
            "runtimeHint": runner,
            "transport": stdio,
            "packageArguments": arguments,
        }
        for kind, runner in [("npm", "npx"), ("pypi", "uvx")]
    ]
    for name in (bundle_name(facts, triple) for triple in TARGETS):
        if (folder / name).exists():
            packages.append(
                {
                    "registryType": "mcpb",
                    "identifier": facts.download(name),
                    "version": facts.version,
                    "fileSha256": sha256(folder / name),
                    "transport": stdio,
                }
            )
    return {
        "$schema": SERVER_SCHEMA,
        "name": facts.mcp_name,
        "title": "qipu",
        "description": facts.description,
        "version": facts.version,
        "repository": {"url": facts.repository, "source": "github"},
        "packages": packages,
    }


def formula(facts: Facts, folder: Path) -> str:
    """The Homebrew formula; the checksum of an archive that is not in the folder is all zeros, which no complete release has."""
    text = (ROOT / "packaging/formula.rb.in").read_text(encoding="utf-8")
    for triple in TARGETS:
        archive = folder / archive_name(facts, triple)
        text = text.replace(f"@SHA256:{triple}@", sha256(archive) if archive.exists() else "0" * 64)
        text = text.replace(f"@URL:{triple}@", facts.download(archive.name))
    for name, value in [
        ("DESCRIPTION", facts.description),
        ("REPOSITORY", facts.repository),
        ("VERSION", facts.version),
    ]:
        text = text.replace(f"@{name}@", value)
    return text


def component(name: str, version: str, license: str) -> dict[str, object]:
    """One part of the bill of materials; a purl names it: https://github.com/package-url/purl-spec."""
    purl = f"pkg:cargo/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": [{"expression": license}],
    }


def bill_of_materials(facts: Facts) -> dict[str, object]:
    """The crates that the program contains, in CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/."""
    crates = read_crates()
    references = {crate.id: f"pkg:cargo/{crate.name}@{crate.version}" for crate in crates}
    program = component("qipu", facts.version, facts.license) | {"type": "application"}
    uses = [
        {"ref": references[crate.id], "dependsOn": [references[name] for name in crate.dependencies]}
        for crate in crates
    ]
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"{facts.repository}/{facts.version}/{json.dumps(uses)}")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": number.urn,
        "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(source_time(), UTC).isoformat(), "component": program},
        "components": [component(crate.name, crate.version, crate.license) for crate in crates],
        "dependencies": uses,
    }


def write_release_files(facts: Facts, folder: Path) -> None:
    def write_json(name: str, value: dict[str, object]) -> None:
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")

    write_json("server.json", server_json(facts, folder))
    write_json("qipu.cdx.json", bill_of_materials(facts))
    (folder / "qipu.rb").write_text(formula(facts, folder), encoding="utf-8")
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    (folder / "SHA256SUMS").write_text("".join(f"{sha256(path)}  {path.name}\n" for path in files), encoding="utf-8")
