#!/usr/bin/env python3
"""Validates the answers in tests/snapshots against specs/schema with a complete implementation of JSON Schema.

`cargo test --test all schemas::` does so with a small one. Needs the package jsonschema.

    packaging/check_answers.py
"""

import json
import re

from jsonschema import Draft202012Validator
from package_facts import ROOT
from referencing import Registry, Resource


def schemas() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "specs/schema").glob("*.json")}


def answers(text: str) -> list[dict]:
    """The answers of a snapshot: objects at the beginning of a line, which may contain line breaks."""
    found, end, decoder = [], 0, json.JSONDecoder()
    for match in re.finditer(r"(?m)^\{\"(?:schema|banner)\"", text):
        if match.start() >= end:
            answer, end = decoder.raw_decode(text, match.start())
            found.append(answer)
    return found


def main() -> None:
    known = schemas()
    registry = Registry().with_resources(
        (f"{name}.json", Resource.from_contents(schema)) for name, schema in known.items()
    )
    count = 0
    for path in sorted((ROOT / "tests/snapshots").glob("*@json.snap")):
        for answer in answers(path.read_text(encoding="utf-8")):
            mode = answer["mode"]
            is_change = mode not in known or mode in ("journal", "setup") and "dry_run" in answer
            validator = Draft202012Validator(known["change" if is_change else mode], registry=registry)
            for error in validator.iter_errors(answer):
                raise SystemExit(f"{path.name}: {error.json_path}: {error.message}")
            count += 1
    assert count > 150, f"only {count} answers"
    print(f"{count} answers conform to their schemas")


main()
