"""Asks questions with an embedder: check.py QIPU FOLDER, where FOLDER has the settings of the packaged one."""

import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

QIPU, WORK = sys.argv[1], Path(sys.argv[2])
ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = ROOT / "fixtures/eval/research.jsonl"
# None of its words but "a" and "the" is in a note; the notes say that fsync on ext4 reports an error once.
OTHER_WORDS = "are hardware malfunctions forgotten after being announced"
DIMENSIONS = 64


class Project:
    """A copy of the fixture, of a user with some settings."""

    def __init__(self, name, settings):
        self.dir = WORK / name
        shutil.copytree(ROOT / "fixtures/research", self.dir / "research")
        config = self.dir / "config/qipu"
        config.mkdir(parents=True)
        (config / "config.toml").write_text(settings, encoding="utf-8")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.dir), "XDG_CONFIG_HOME": str(self.dir / "config")}
        self.env["XDG_CACHE_HOME"] = str(self.dir / "cache")

    def run(self, *args):
        command = [QIPU, *args]
        done = subprocess.run(command, cwd=self.dir / "research", env=self.env, capture_output=True, text=True)
        assert done.returncode == 0 and done.stderr == "", (args, done.returncode, done.stderr)
        return done.stdout

    def hits(self, *args):
        """Returns how many questions of the fixture are answered in 1,000 characters."""
        answer = json.loads(self.run("eval", str(QUESTIONS), "--budget", "1000", "--json", *args))
        return next(figure["count"] for figure in answer["figures"] if figure["name"] == "hits")


def check_packaged():
    project = Project("packaged", (WORK / "settings.toml").read_text(encoding="utf-8"))
    by_words = project.hits("--no-embedder")
    reranked = project.hits()
    assert "model" not in json.loads(project.run("ask", OTHER_WORDS, "--json", "--no-embedder"))["match"]
    embedded = project.run("status", "--embed")
    assert re.search(r"^ *\d+  embedded passages$", embedded, re.M), embedded
    found = project.hits()
    print(f"answered in 1,000 characters: {by_words} by words, {reranked} reranked, {found} with all passages embedded")
    assert min(reranked, found) >= by_words
    again = project.run("ask", OTHER_WORDS, "--records")
    assert " model=minilm-l6-v2\n" in again, again
    assert again == project.run("ask", OTHER_WORDS, "--records")


class Server(http.server.BaseHTTPRequestHandler):
    """A server that embeds texts by the hashes of their words, as ollama and llama.cpp answer."""

    requests = 0

    def do_POST(self):
        Server.requests += 1
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        vectors = [self.vector(text) for text in body["input"]]
        answer = {"embeddings": vectors} if self.path == "/api/embed" else {"data": [{"embedding": one} for one in vectors]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())

    def vector(self, text):
        numbers = [0.01] * DIMENSIONS
        for word in re.findall(r"\w+", text.lower()):
            numbers[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
        return numbers

    def log_message(self, *args):
        pass


def check_script():
    page = (ROOT / "specs/reference/embedder.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    (WORK / "script.py").write_text(script, encoding="utf-8")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for name, path in (("ollama", "/api/embed"), ("llama", "/v1/embeddings")):
        url = f"http://127.0.0.1:{server.server_port}{path}"
        command = json.dumps([sys.executable, str(WORK / "script.py"), url, name, str(DIMENSIONS)])
        project = Project(name, f'[embedder]\ncommand = {command}\nname = "{name}"\n')
        before = Server.requests
        answer = project.run("ask", "does fsync report an error twice", "--records")
        assert f" model={name}\n" in answer and Server.requests > before, answer
    server.shutdown()


check_packaged()
check_script()
print("both embedders work")
