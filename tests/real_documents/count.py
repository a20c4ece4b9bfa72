"""Counts the documents, titles and links of a folder of markdown files, without qipu.

    count.py DIR            the counts, as JSON
    count.py DIR --details  also each title, edge and broken link

Markdown is parsed by markdown-it-py and frontmatter by PyYAML, so that no rule is taken from the program under test.
"""
import argparse
import json
import os
import posixpath
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import yaml
from markdown_it import MarkdownIt

ENDINGS = (".md", ".markdown", ".mdx")
MAX_BYTES = 4 << 20
# As in the tables of the specification: these headings are no titles.
NO_TITLES = {"summary", "abstract", "tl;dr", "motivation", "status", "metadata", "contents", "table of contents", "toc",
             "on this page", "license", "licence", "copyright"}
# Links are counted once, by the rule that finds their document or says why there is none.
COUNTS = ["documents", "skipped", "frontmatter", "broken_frontmatter", "titles", "links", "exact", "without_ending", "folder",
          "html", "absolute", "absolute_elsewhere", "other_file", "no_file", "outside",
          "broken", "edges", "broken_targets"]
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def files_of(root):
    """Returns the paths of all files that are neither hidden nor symbolic links, relative to the folder."""
    found = []
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not is_skipped(folder, name))
        found += [posixpath.relpath(f"{folder}/{name}", root) for name in files if not is_skipped(folder, name)]
    return sorted(found)


def is_skipped(folder, name):
    if name == ".gitignore":
        raise SystemExit(f"{folder}/{name}: this script does not know these rules")
    return name.startswith(".") or os.path.islink(f"{folder}/{name}")


def read(root, path):
    """Returns the text of a document, or None if it is too long or not text."""
    with open(f"{root}/{path}", "rb") as file:
        data = file.read()
    if len(data) > MAX_BYTES or b"\0" in data[:8192]:
        return None
    return data.decode("utf-8-sig").replace("\r\n", "\n")


def split(text):
    """Returns the frontmatter as a mapping (`None` if it is not YAML), and the body."""
    match = re.match(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)", text, re.DOTALL)
    if not match or not is_frontmatter(match[1] or ""):
        return {}, text
    try:
        fields = yaml.load(match[1] or "", Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return None, text[match.end():]
    return (fields if isinstance(fields, dict) else {}), text[match.end():]


def is_frontmatter(text):
    lines = [line for line in text.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return not lines or any(": " in line or line.rstrip().endswith(":") or line.startswith("{") for line in lines)


def plain(inline):
    """Returns the text of a heading without markup."""
    kept = []
    for token in inline.children or []:
        if token.type in ("text", "code_inline"):
            kept.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            kept.append(" ")
    return re.sub(r"\s*\{[#:.][^}]*\}\s*$", "", " ".join("".join(kept).split()))


def title_of(fields, tokens):
    """Returns the title, or `None` where it has to come from the name of the file."""
    if isinstance(fields.get("title"), str) and fields["title"].strip():
        return " ".join(fields["title"].split())
    for token, inline in zip(tokens, tokens[1:]):
        if token.type == "html_block" and (match := re.search(r"<h1[^>]*>(.*?)</h1>", token.content, re.DOTALL)):
            heading = " ".join(re.sub(r"<[^>]*>", "", match[1]).split())
        elif token.type == "heading_open" and token.tag == "h1" and token.level == 0:
            heading = plain(inline)
        else:
            continue
        if heading and heading.lower() not in NO_TITLES:
            return heading
    return None


class Anchors(HTMLParser):
    """Collects the destinations of `<a href>`."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def anchors(html):
    parser = Anchors()
    parser.feed(html)
    return parser.found


def links_of(tokens):
    """Returns the destinations of links, also in HTML, without images and code."""
    for token in tokens:
        if token.type == "html_block":
            yield from anchors(token.content)
        for child in token.children or []:
            if child.type == "link_open" and child.info != "auto":
                yield child.attrs["href"]
            elif child.type == "html_inline":
                yield from anchors(child.content)


def resolve(path, files):
    """Returns the file that a path means, and by which rule: itself, a document without its ending, the page of a folder, or
    the document from which a page is made."""
    if path in files:
        return path, "exact"
    stem = path.removesuffix("/").removesuffix(".html")
    pages = ["index", "README"]
    rules = {
        "without_ending": [stem + ending for ending in ENDINGS],
        "folder": [posixpath.normpath(f"{stem}/{page}{ending}") for page in pages for ending in ENDINGS],
    }
    for rule, tries in rules.items():
        for target in tries:
            if target in files:
                return target, "html" if path.endswith(".html") else rule
    return None, None


def count(root):
    """Returns the counts, and what was counted."""
    files = files_of(root)
    texts = {path: read(root, path) for path in files if path.endswith(ENDINGS)}
    documents = {path: split(text) for path, text in texts.items() if text is not None}
    present, counts = set(files), dict.fromkeys(COUNTS, 0)
    counts["documents"], counts["skipped"] = len(documents), len(texts) - len(documents)
    titles, edges, broken, outside = {}, set(), set(), set()
    for path, (fields, body) in documents.items():
        counts["frontmatter"] += bool(fields)
        counts["broken_frontmatter"] += fields is None
        tokens = PARSER.parse(body)
        # Without its fields the title of such a document is not known.
        titles[path] = None if fields is None else title_of(fields, tokens)
        for href in links_of(tokens):
            target = unquote(re.split("[?#]", href)[0])
            if not target or ":" in target or href.startswith("//"):
                continue
            kind, found = follow(path, target, present, documents)
            counts["links"] += 1
            counts[kind] += 1
            if kind == "broken":
                broken.add((path, target))
            elif kind == "outside" and target.endswith(ENDINGS):
                outside.add((path, target))
            elif found in documents and found != path:
                edges.add((path, found))
    counts["titles"] = sum(title is not None for title in titles.values())
    counts["edges"], counts["broken_targets"] = len(edges), len(broken)
    return counts, {"titles": titles, "edges": sorted(edges), "broken": sorted(broken), "outside": sorted(outside),
                    "broken_frontmatter": sorted(path for path, (fields, _) in documents.items() if fields is None)}


def follow(source, target, files, documents):
    """Returns the kind of a link, as in `COUNTS`, and the file to which it leads."""
    absolute = target.startswith("/")
    path = posixpath.normpath(posixpath.join("" if absolute else posixpath.dirname(source), target.lstrip("/") or "."))
    if path == ".." or path.startswith("../"):
        return "outside", None
    found, rule = resolve(path + "/" * target.endswith("/"), files)
    if absolute:
        return ("absolute" if found in documents else "absolute_elsewhere"), found
    if found is None:
        # Another path may lead to a page that only the published site has.
        return ("broken" if path.endswith(ENDINGS) else "no_file"), None
    return (rule if found in documents else "other_file"), found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder")
    arguments.add_argument("--details", action="store_true")
    given = arguments.parse_args()
    counts, details = count(given.folder.rstrip("/"))
    print(json.dumps(counts | (details if given.details else {}), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
