"""Compares what qipu finds in real documentation trees with trees.json and with count.py.

    check.py QIPU WORK PACKAGES

WORK is a temporary folder, PACKAGES keeps the packages. `trees.json` names them, and has the expected counts.
"""
import collections
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import count

HERE = pathlib.Path(__file__).parent
QIPU, WORK, PACKAGES = (pathlib.Path(argument).absolute() for argument in sys.argv[1:4])
BUDGETS = (4000, 8000)
problems = []


def expect(tree, what, found, expected):
    """Notes a difference. Of sets only their differences are shown."""
    if found == expected:
        return
    if isinstance(found, (set, dict)) and isinstance(expected, type(found)):
        items = (lambda value: set(value.items())) if isinstance(found, dict) else set
        more, less = items(found) - items(expected), items(expected) - items(found)
        found, expected = (f"{len(rest)} more, such as {sorted(rest, key=str)[:3]}" for rest in (more, less))
    problems.append(f"{tree['name']}: {what}: found {found}, expected {expected}")


def fetch(tree):
    """Returns the archive of a package, which the client of its registry downloads unless it is already there."""
    name, version = tree["package"], tree["version"]
    archive = PACKAGES / tree["archive"]
    if not archive.exists():
        PACKAGES.mkdir(parents=True, exist_ok=True)
        if tree["client"] == "cargo":
            subprocess.run(["cargo", "info", "--quiet", f"{name}@{version}"], cwd=WORK, check=True, stdout=subprocess.DEVNULL)
            home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
            archive.write_bytes(next(home.glob(f"registry/cache/*/{tree['archive']}")).read_bytes())
        elif tree["client"] == "pip":
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest",
                            PACKAGES, f"{name}=={version}"], check=True)
        else:
            subprocess.run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", PACKAGES, f"{name}@{version}"],
                           cwd=WORK, check=True, stdout=subprocess.DEVNULL)
    if hashlib.sha256(archive.read_bytes()).hexdigest() != tree["sha256"]:
        raise SystemExit(f"{archive}: not the pinned contents")
    return archive


def unpack(tree):
    """Returns a project folder whose folder `docs` is the tree, as its package ships it."""
    package, project = WORK / "unpacked" / tree["name"], WORK / "projects" / tree["name"]
    package.mkdir(parents=True)
    subprocess.run(["tar", "-xf", fetch(tree), "-C", package, "--strip-components=1", "--no-same-owner"], check=True)
    project.mkdir(parents=True)
    (package / tree["folder"]).rename(project / "docs")
    subprocess.run(["git", "init", "--quiet"], cwd=project, check=True)
    return project


def state(folder):
    """Returns each path of a folder with the hash of its contents, its mode and its time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if ".git" in path.relative_to(folder).parts[:1]:
            continue
        data = path.read_bytes() if path.is_file() else b""
        status = path.lstat()
        found[str(path.relative_to(folder))] = (hashlib.sha256(data).hexdigest(), status.st_mode, status.st_mtime_ns)
    return found


def run(project, arguments, statuses=(0,)):
    """Returns the JSON of a command, with a home and settings of its own."""
    home = WORK / "home"
    home.mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("QIPU_", "XDG_"))}
    command = [QIPU, *arguments, "--json"]
    done = subprocess.run(command, cwd=project, env=kept | {"HOME": str(home)}, capture_output=True, text=True)
    if done.returncode not in statuses:
        raise SystemExit(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def words(text):
    return " ".join(text.split())


def in_tree(path):
    """Returns the path of a note in its tree; answers show it from the project's folder."""
    return path.removeprefix("docs/")


def check_notes(tree, project, source, details):
    """Checks which files are notes, and their titles. Returns the paths by id."""
    notes = run(project, [*source, "list", "--limit", "100000"])["notes"]
    paths = {note["id"]: in_tree(note["path"]) for note in notes}
    expect(tree, "paths of notes", set(paths.values()), set(details["titles"]))
    expected = {path: words(title) for path, title in details["titles"].items() if title is not None}
    titles = {in_tree(note["path"]): words(note["title"]) for note in notes}
    expect(tree, "titles", {path: title for path, title in titles.items() if path in expected}, expected)
    return paths


def check_links(tree, project, source, paths, details):
    """Checks which notes link to which others."""
    links = run(project, [*source, "export", "links", "--via", "inline"])["links"]
    found = {(paths[link["from"]], paths[link["to"]]) for link in links}
    expect(tree, "links between documents", found, set(details["edges"]))


def check_findings(tree, project, source, details):
    """Checks that doctor finds the broken links, nothing else than what trees.json explains, and no error."""
    findings = run(project, [*source, "doctor"], statuses=(0, 3))["findings"]
    codes = collections.Counter(finding["code"] for finding in findings)
    expect(tree, "findings", dict(codes), tree["findings"])
    expect(tree, "errors", [finding for finding in findings if finding["level"] == "error"], [])
    broken = {(in_tree(finding["path"]), re.search("`(.*)`", finding["message"])[1])
              for finding in findings if finding["code"] == "broken-link"}
    # The tree lies in a folder of the project: links out of it lead to files that the project does not have.
    leaving = {(path, target) for path, target in details["outside"] if not leaves_project(path, target)}
    expect(tree, "broken links", broken, {*map(tuple, details["broken"]), *leaving})
    not_yaml = {in_tree(finding["path"]) for finding in findings if finding["code"] == "frontmatter-broken"}
    expect(tree, "frontmatter that is not YAML", not_yaml, set(details["broken_frontmatter"]))


def leaves_project(path, target):
    return os.path.normpath(f"docs/{os.path.dirname(path)}/{target}").startswith("..")


def check_questions(tree, project, source, paths):
    """Checks that each passage is in one of its documents, and the figures of `qipu eval`."""
    file = HERE / f"questions-{tree['name']}.jsonl"
    for line in file.read_text().splitlines():
        answers = json.loads(line)["answers"]
        expect(tree, "documents of answers", [note for note in answers["ids"] if note not in paths], [])
        texts = [letters((project / "docs" / paths[note]).read_text()) for note in answers["ids"] if note in paths]
        missing = [passage for passage in answers["sentences"] if not any(letters(passage) in text for text in texts)]
        expect(tree, "passages in no document", missing, [])
    budgets = ",".join(map(str, BUDGETS))
    figures = run(project, [*source, "eval", file, "--budget", budgets, "--today", "2026-01-01"])["figures"]
    values = {f"{figure['name']} {figure.get('budget', '')}".strip(): figure["value"] for figure in figures if "value" in figure}
    for name, floor in tree["floors"].items():
        print(f"{tree['name']}: {name} {values[name]}, at least {floor}")
        if values[name] < floor:
            problems.append(f"{tree['name']}: {name} is {values[name]}, below {floor}")


def letters(text):
    text = re.sub(r"</?[A-Za-z][^<>]*>", "", text.replace("’", "'"))
    return " ".join(re.findall("[a-z0-9]+", text.lower()))


def check(tree):
    project = unpack(tree)
    before = state(project)
    counts, details = count.count(str(project / "docs"))
    print(f"{tree['name']}: {json.dumps(counts)}")
    expect(tree, "counts", counts, tree["counts"])
    source = ["--store", "docs"]
    paths = check_notes(tree, project, source, details)
    check_links(tree, project, source, paths, details)
    check_findings(tree, project, source, details)
    if "floors" in tree:
        check_questions(tree, project, source, paths)
    expect(tree, "files afterwards", state(project), before)

    # The same folder as a source of a project's store.
    store = project / ".qipu"
    store.mkdir()
    (store / "config.toml").write_text('[[documents]]\npath = "docs"\n')
    expect(tree, "ids by the settings of a store", set(check_notes(tree, project, [], details)), set(paths))
    check_links(tree, project, [], paths, details)
    after = {path: found for path, found in state(project).items() if not path.startswith(".qipu")}
    expect(tree, "files afterwards, with a store", {path: after[path] for path in after if path != "."}, before)


def main():
    trees = json.loads((HERE / "trees.json").read_text())
    for tree in trees:
        check(tree)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(trees)} trees, {len(problems)} problems")
    sys.exit(bool(problems))


main()
