"""A headless Chromium, driven over a pipe: nothing but Python's own library is needed."""

import itertools
import json
import os
import select
import subprocess
import time

PATIENCE = 180


class Chromium:
    """A browser with one page, without a network. Remembers what the page logs and asks for."""

    def __init__(self, program, work, dark=False, size=(1440, 900)):
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()
        flags = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--remote-debugging-pipe", "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
            "--hide-scrollbars", f"--user-data-dir={work}/profile", f"--window-size={size[0]},{size[1]}",
        ]
        # The browser reads from descriptor 3 and writes to 4.
        line = f'exec "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", line, "bash", program, *flags, "about:blank"],
            pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self.input, self.output, self.rest = ours_in, ours_out, b""
        self.numbers = itertools.count(1)
        self.answers, self.events, self.session = {}, [], None
        pages = self.ask("Target.getTargets")["targetInfos"]
        page = next(page for page in pages if page["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.ask(f"{domain}.enable")
        self.ask("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def ask(self, method, **params):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while number not in self.answers:
            self.read(end)
        answer = self.answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def read(self, end):
        ready, _, _ = select.select([self.input], [], [], max(0, end - time.monotonic()))
        assert ready, "the browser does not answer"
        got = os.read(self.input, 1 << 20)
        assert got, "the browser went away"
        *messages, self.rest = (self.rest + got).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.events.append(message)

    def run(self, script):
        """Evaluates JavaScript; what it throws fails the test."""
        got = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in got, f"{script}: {got['exceptionDetails']}"
        return got["result"].get("value")

    def wait(self, script, what):
        end = time.monotonic() + PATIENCE
        while not self.run(script):
            assert time.monotonic() < end, f"in vain waited for: {what}"
            time.sleep(0.05)

    def open(self, path):
        self.ask("Page.navigate", url=f"file://{path}")
        self.wait("document.documentElement?.dataset.state === 'ready'", "the layout")

    def mouse(self, x, y, *kinds):
        for kind in kinds:
            button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def click(self, x, y):
        """Clicks as a hand does: the mouse comes first, then the button."""
        self.mouse(x - 3, y - 3, "mouseMoved")
        self.mouse(x, y, "mouseMoved")
        # What lies under the mouse is known from the next frame on.
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        self.mouse(x, y, "mousePressed", "mouseReleased")

    def key(self, key, text=None):
        extra = {"text": text} if text else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, **extra)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def screenshot(self, path):
        import base64

        picture = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture))

    def complaints(self):
        """What the page logged, threw, or was refused."""
        names = ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"]
        return [event["params"] for event in self.events if event["method"] in names]

    def requests(self):
        """What was asked for beside the page itself."""
        sent = [event["params"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        self.ask("Browser.close")
        self.process.wait(PATIENCE)
