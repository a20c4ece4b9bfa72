"""Checks of tests/search_engine/run.

    check.py ids FOUND                     prints the ids of the notes that were found, the best first
    check.py answer FOUND ANSWER BUDGET    the answer contains the best passage and keeps its budget
    check.py bulk SCHEMA FULL BULK...      the lines are valid, and come to the documents of a full export
"""

import json
import sys

import jsonschema


def read(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


def lines_of(path):
    text = read(path)
    assert not text or text.endswith("\n"), f"{path} lacks its last line end"
    return [json.loads(line) for line in text.split("\n")[:-1]]


def print_ids(found):
    for note in dict.fromkeys(passage["id"] for passage in lines_of(found)):
        print(note)


def check_answer(found, answer, budget):
    text = read(answer)
    assert len(text) <= int(budget), f"{len(text)} characters, not {budget}"
    best = lines_of(found)[0]
    notes = {note["id"]: note for note in json.loads(text)["notes"]}
    assert best["id"] in notes, f"{best['id']} is not among {list(notes)}"
    note = notes[best["id"]]
    assert note["in"] == best["in"]
    passages = note.get("passages") or [{"text": note["content"]}]
    shown = "\n".join(passage["text"] for passage in passages)
    assert best["text"] in shown, f"{best['text']!r} is not in {shown!r}"


def check_bulk(schema, full, files):
    schema = json.loads(read(schema))
    validators = {}
    for name in ("action", "document"):
        jsonschema.Draft7Validator.check_schema(schema["definitions"][name])
        validators[name] = jsonschema.Draft7Validator(schema["definitions"][name])
    documents = {}
    for file in files:
        lines = iter(lines_of(file))
        for action in lines:
            validators["action"].validate(action)
            ((name, target),) = action.items()
            if name == "delete":
                del documents[target["_id"]]
            else:
                document = next(lines)
                validators["document"].validate(document)
                documents[target["_id"]] = document
    expected = {line.pop("_id"): line for line in lines_of(full)}
    assert documents == expected, documents.keys() ^ expected.keys()


def main(check, *args):
    if check == "ids":
        print_ids(*args)
    elif check == "answer":
        check_answer(*args)
    elif check == "bulk":
        check_bulk(args[0], args[1], args[2:])
    else:
        raise SystemExit(__doc__)


main(*sys.argv[1:])
