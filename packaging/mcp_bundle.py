"""The MCP bundle: the program with a manifest, for applications that install MCP servers with a click.

The format is https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md.
"""

import json
from pathlib import Path

from deterministic_archives import Entry, write_zip
from package_facts import TARGETS, Facts, Target, source_time
from shared_files import licenses


def bundle_name(facts: Facts, triple: str) -> str:
    return f"qipu-{facts.version}-{triple}.mcpb"


def manifest(facts: Facts, target: Target) -> dict[str, object]:
    program = f"server/{target.program}"
    project = {
        "type": "directory",
        "title": "Project",
        "description": "The folder that contains .qipu, as `qipu init` creates it",
        "required": True,
    }
    command = {"command": f"${{__dirname}}/{program}", "args": ["mcp", "--store", "${user_config.project}"]}
    return {
        "manifest_version": "0.3",
        "name": "qipu",
        "display_name": "qipu",
        "version": facts.version,
        "description": facts.description,
        "author": {"name": facts.authors[0].split(" <")[0]},
        "repository": {"type": "git", "url": facts.repository},
        "license": facts.license,
        "keywords": facts.keywords,
        "server": {"type": "binary", "entry_point": program, "mcp_config": command},
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {"platforms": [target.os]},
        "user_config": {"project": project},
    }


def make_mcpb(facts: Facts, triple: str, binary: Path, to: Path) -> None:
    target = TARGETS[triple]
    text = json.dumps(manifest(facts, target), indent=2) + "\n"
    entries: list[Entry] = [("manifest.json", text.encode(), False)]
    entries.append((f"server/{target.program}", binary.read_bytes(), True))
    entries += [(name, data, False) for name, data in licenses().items()]
    write_zip(to / bundle_name(facts, triple), entries, source_time())
