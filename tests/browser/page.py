"""What the page of `qipu export page` does in a browser, and what hostile notes can't do there."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from chromium import Chromium

PROGRAM, BROWSER, WORK, SCREENSHOT = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])

EVIL = "window.hacked=true"
HOSTILE_TITLE = f"Evil </script><script>{EVIL}</script><img src=x onerror={EVIL}> \u2028 &quot; \\\" %%{{init}}%% end"
HOSTILE_BODY = f"""Before.

</script><script>{EVIL}</script>

<img src=x onerror="{EVIL}"> <svg onload={EVIL}><a href="javascript:{EVIL}">raw</a>

[script](javascript:{EVIL}) [spaced]( java\tscript:{EVIL}) [data](data:text/html,<script>{EVIL}</script>)
<javascript:{EVIL}> ![pixel](https://tracker.invalid/a.png) [[" onclick="{EVIL}|wiki]]

<style>body {{ display: none }}</style> \u2028 <form id="data" name="find"><input name="value"></form>

```<img/src=x/onerror={EVIL}>
code
```
"""


def note(folder, name, fields, body):
    path = WORK / "project/.qipu" / folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\n" + "\n".join(f"{key}: {json.dumps(value)}" for key, value in fields.items()) + f"\n---\n{body}")


def make_store():
    """A store of ordinary notes, and one that tries everything."""
    topics = ["fsync", "rename", "journal", "replica", "checksum"]
    kinds = ["permanent", "literature", "fleeting"]
    note("mocs", "map", {"id": "map", "title": "Map of durability", "type": "moc", "tags": ["map"]},
         "What is known:\n\n" + "\n".join(f"- [[n{i}]]" for i in range(0, 40, 4)))
    for i in range(40):
        links = [{"type": "supports", "id": f"n{(i * 7 + 3) % 40}"}]
        fields = {"id": f"n{i}", "title": f"Note {i} on {topics[i % 5]}", "type": kinds[i % 3],
                  "tags": [topics[i % 5], "all"], "value": 20 + i, "links": links}
        note("notes", f"n{i}", fields, f"Text of note {i}, which follows [[n{i // 2}]].\n\nA list:\n\n- one\n- two\n")
    fields = {"id": "evil", "title": HOSTILE_TITLE, "type": "<b>odd</b>", "tags": ["<i>tag</i>", "__proto__"],
              "links": [{"type": "\"><script>", "id": "n1"}]}
    note("notes", "evil", fields, HOSTILE_BODY)
    # Names that objects of JavaScript have already.
    for name in ["__proto__", "constructor"]:
        note("notes", name, {"id": name, "title": name, "type": name, "tags": [name]}, "[[n2]]")


def qipu(*words):
    return subprocess.run([PROGRAM, *words], cwd=WORK / "project", check=True, capture_output=True, text=True).stdout


def place(browser, note):
    at = browser.run(f"qipu.place({json.dumps(note)})")
    return at["x"], at["y"]


def title(browser):
    return browser.run("document.getElementById('note').hidden ? null : document.querySelector('#note .title').textContent")


def settle(browser):
    """Waits until the drawing stands still and what lies under the mouse is known."""
    browser.run("new Promise((done) => setTimeout(done, 1200))")


def uses(browser, all_of_it):
    """Search, click, walk, filter, keys."""
    count = "document.getElementById('count').textContent"
    assert browser.run(count) == all_of_it, browser.run(count)
    browser.key("/", "/")
    assert browser.run("document.activeElement.id") == "find"
    browser.type("durability")
    found = "[...document.querySelectorAll('#found button span')].map((it) => it.textContent)"
    assert browser.run(found) == ["Map of durability"], browser.run(found)
    browser.key("Enter")
    browser.wait("!document.getElementById('note').hidden", "the note that was found")
    assert title(browser) == "Map of durability"
    browser.key("Escape")
    browser.key("Escape")
    # What the address says is followed when the browser comes to it, which may be after the key.
    browser.wait("document.getElementById('note').hidden", "the found note to close")
    assert browser.run("document.getElementById('find').value") == ""
    settle(browser)

    browser.click(*place(browser, "n20"))
    browser.wait("!document.getElementById('note').hidden", "the note that was clicked")
    assert title(browser) == "Note 20 on fsync", title(browser)
    assert "Text of note 20" in browser.run("document.querySelector('.body').textContent")
    # A link in the text, a link of the list, a link from another note, and back.
    browser.run("document.querySelector('.body a[href=\"#n10\"]').click()")
    browser.wait("location.hash === '#n10' && document.querySelector('#note .facts code').textContent === 'n10'", "the next note")
    browser.run("[...document.querySelectorAll('.links button')].find((it) => it.textContent === 'Note 33 on replica').click()")
    browser.wait("document.querySelector('#note .facts code').textContent === 'n33'", "the linked note")
    heads = browser.run("[...document.querySelectorAll('#note > h2')].map((it) => it.textContent).slice(1)")
    assert heads == ["Links to", "Linked from"], heads
    browser.run("history.back()")
    browser.wait("document.querySelector('#note .facts code').textContent === 'n10'", "the note before")
    browser.key("Escape")
    browser.wait("document.getElementById('note').hidden", "the note to close")


def filters(browser, all_of_it):
    settle(browser)
    x, y = place(browser, "map")
    browser.run("document.querySelector('[data-type=moc]').click()")
    assert browser.run("document.getElementById('count').textContent") == "43 of 44 notes"
    settle(browser)
    browser.click(x, y)
    assert title(browser) != "Map of durability", "a hidden note can be clicked"
    browser.run("document.querySelector('[data-tag=fsync]').click()")
    assert browser.run("document.getElementById('count').textContent") == "8 of 44 notes"
    browser.run("document.getElementById('all').click()")
    assert browser.run("document.getElementById('count').textContent") == all_of_it


def zooms(browser, _):
    def apart():
        (ax, ay), (bx, by) = place(browser, "n1"), place(browser, "n2")
        return abs(ax - bx) + abs(ay - by)

    settle(browser)
    before = apart()
    browser.ask("Input.dispatchMouseEvent", type="mouseWheel", x=800, y=450, deltaX=0, deltaY=-300)
    browser.wait(f"(() => {{ const [a, b] = [qipu.place('n1'), qipu.place('n2')]; "
                 f"return Math.abs(a.x - b.x) + Math.abs(a.y - b.y) > {before} * 1.1 }})()", "the wheel to bring it closer")
    (x, y), corner = place(browser, "n1"), (300, 20)
    browser.mouse(*corner, "mouseMoved", "mousePressed")
    browser.mouse(corner[0] + 60, corner[1] + 40, "mouseMoved", "mouseReleased")
    browser.wait(f"Math.abs(qipu.place('n1').x - {x} - 60) < 3", "the drawing to be moved")
    settle(browser)
    browser.run("document.getElementById('whole').click()")
    settle(browser)
    assert abs(apart() - before) < 1, "the whole graph is shown otherwise than at first"
    # The button works in the moment when a drag ends too.
    browser.mouse(*corner, "mouseMoved", "mousePressed")
    browser.mouse(corner[0] + 60, corner[1] + 40, "mouseMoved", "mouseReleased")
    browser.run("document.getElementById('whole').click()")
    settle(browser)
    here = place(browser, "n1")
    browser.run("document.getElementById('whole').click()")
    settle(browser)
    assert abs(place(browser, "n1")[0] - here[0]) < 1, "a click at the end of a drag is lost"


def hostile_note_does_nothing(browser, _):
    settle(browser)
    browser.click(*place(browser, "evil"))
    browser.wait("document.getElementById('note') && !document.getElementById('note').hidden", "the hostile note")
    shown = title(browser)
    assert shown.startswith("Evil </script><script>") and "onerror" in shown, shown
    inside = "document.querySelectorAll('#note script, #note img, #note svg, #note style, #note form, #note input, #note [onclick], #note [onerror]').length"
    assert browser.run(inside) == 0
    text = browser.run("document.querySelector('.body').textContent")
    assert f"<script>{EVIL}</script>" in text and "<style>" in text, text
    links = browser.run("[...document.querySelectorAll('#note a')].map((it) => [it.textContent, it.getAttribute('href')])")
    assert len(links) >= 4 and all(href is None for _, href in links), links
    for number in range(len(links)):
        browser.run(f"document.querySelectorAll('#note a')[{number}].click()")
    browser.run(f"document.querySelector('#find').value = '<script>'; document.querySelector('#find').dispatchEvent(new Event('input'))")
    settle(browser)
    assert browser.run("window.hacked") is None, "a note ran"
    browser.key("Escape")
    browser.key("Escape")
    browser.wait("document.getElementById('note').hidden", "the hostile note to close")


def policy_holds(browser):
    """If something of a note were live after all, the page's policy would not let it run: tried, and refused."""
    before = len(browser.complaints())
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=true\">')")
    browser.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked=true'}))")
    browser.run("fetch('https://example.invalid/').catch(() => {})")
    browser.run("new Promise((done) => setTimeout(done, 300))")
    assert browser.run("window.hacked") is None
    refused = [str(it) for it in browser.complaints()[before:]]
    assert sum("Content Security Policy" in it for it in refused) >= 3, refused


def silent(browser, page):
    assert not browser.complaints(), browser.complaints()
    asked = [url for url in browser.requests() if not re.match(re.escape(f"file://{page}") + "(#.*)?$", url)]
    assert not asked, asked


def counts():
    """How the page should tell the numbers of notes and links."""
    links = json.loads(qipu("export", "links"))
    assert len(links["links"]) > 50
    return f"{len(links['notes'])} notes, {len(links['links'])} links"


def large_page(work):
    """Ten thousand notes are drawn, found and clicked too."""
    for i in range(10_000):
        note_text = f"---\nid: m{i}\ntitle: Large {i}\nlinks:\n- {{type: supports, id: m{i // 3}}}\n---\nText [[m{(i * 13) % 10_000}]]\n"
        path = work / "large/.qipu/notes" / f"m{i}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note_text)
    subprocess.run([PROGRAM, "export", "page", "page.html"], cwd=work / "large", check=True, capture_output=True)
    return work / "large/page.html"


def places(browser):
    return browser.run("['n1', 'n20', 'map', 'evil'].map((id) => qipu.place(id))")


def main():
    make_store()
    qipu("export", "page", "page.html")
    all_of_it = counts()
    page = WORK / "project/page.html"
    with Chromium(BROWSER, WORK / "light") as browser:
        browser.open(page)
        first = places(browser)
        for step in [uses, filters, zooms, hostile_note_does_nothing]:
            step(browser, all_of_it)
            print(f"ok {step.__name__}", flush=True)
        silent(browser, page)
        browser.run("location.hash = '#map'")
        settle(browser)
        browser.screenshot(SCREENSHOT)
        policy_holds(browser)
        print("ok policy_holds", flush=True)
    with Chromium(BROWSER, WORK / "dark", dark=True) as browser:
        browser.open(page)
        assert places(browser) == first, "the layout is not the same again"
        browser.screenshot(SCREENSHOT.with_suffix(".dark.png"))
        silent(browser, page)
        print("ok the same layout again, in the dark", flush=True)
    with Chromium(BROWSER, WORK / "large") as browser:
        page = large_page(WORK)
        started = time.monotonic()
        browser.open(page)
        print(f"   laid out after {time.monotonic() - started:.0f} s", flush=True)
        browser.key("/", "/")
        browser.type("Large 777")
        browser.key("Enter")
        browser.wait("!document.getElementById('note').hidden", "a note of ten thousand")
        assert title(browser) == "Large 777"
        browser.screenshot(SCREENSHOT.with_suffix(".large.png"))
        silent(browser, page)
        print("ok ten thousand notes", flush=True)


main()
