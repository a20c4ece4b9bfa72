#!/usr/bin/env python3
"""Drives an installed embedder as qipu does.

    packaging/embedder/check_protocol.py COMMAND…
"""

import base64
import json
import math
import struct
import subprocess
import sys

DIMENSIONS = 384
TIMEOUT = 60


def run(command: list[str], lines: list[str]) -> tuple[dict, list[dict]]:
    """The first line and the answers of a program that reads these lines. It runs in `/`, as qipu starts it."""
    done = subprocess.run(command, input="".join(lines), capture_output=True, encoding="utf-8", cwd="/", timeout=TIMEOUT)
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
    first, *answers = map(json.loads, done.stdout.splitlines())
    return first, answers


def line(**request: object) -> str:
    return json.dumps(request) + "\n"


def decode(answer: dict) -> list[tuple[float, ...]]:
    blobs = [base64.b64decode(vector, validate=True) for vector in answer["vectors"]]
    assert all(len(blob) == 4 * DIMENSIONS for blob in blobs)
    return [struct.unpack(f"<{DIMENSIONS}f", blob) for blob in blobs]


def cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def check_answers(command: list[str]) -> None:
    texts = ["a man is eating food", "a man eats something", "the stock market fell sharply today"]
    bad = ["\n", "no JSON\n", "[]\n", line(id=3), line(id=3, texts=[]), line(id=3, texts=[1]), line(id=3, texts=["x"] * 65)]
    lines = [line(id=1, texts=texts), *bad, line(id=4, texts=texts[::-1], other=None), line(id=5, texts=["x y " * 999] * 64)]
    # The last line may lack its end.
    lines[-1] = lines[-1].rstrip("\n")
    first, answers = run(command, lines)
    assert first == {"name": "minilm-l6-v2", "dimensions": DIMENSIONS, "longest_text": 2000}, first
    assert [answer["id"] for answer in answers] == [1, None, None, None, 3, 3, 3, 3, 4, 5]
    assert all(answer.keys() == {"id", "error"} for answer in answers[1:8])
    vectors = decode(answers[0])
    assert decode(answers[8]) == vectors[::-1]
    assert len(set(decode(answers[9]))) == 1 and len(answers[9]["vectors"]) == 64
    similar, other = cosine(vectors[0], vectors[1]), cosine(vectors[0], vectors[2])
    assert similar > 0.8 and other < 0.1, (similar, other)
    print(f"cosines: {similar:.3f} of similar texts, {other:.3f} of others")


def check_first_line(command: list[str]) -> None:
    """The first line comes before anything is read, and the end of the input ends the program."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/") as process:
        assert json.loads(process.stdout.readline())["dimensions"] == DIMENSIONS
        process.stdin.close()
        assert process.stdout.read() == b"" and process.wait(TIMEOUT) == 0


def check_failure(command: list[str], code: int, reason: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=TIMEOUT)
    (message,) = done.stderr.splitlines()
    assert done.returncode == code and reason in message and done.stdout == "", done


def main() -> None:
    command = sys.argv[1:]
    check_answers(command)
    check_first_line(command)
    program = command[0]
    check_failure([program, "--stdio", "--model", "/no/such/folder"], 1, "packaging/embedder/install")
    check_failure([program, "--stdio", "--nonsense"], 2, "--nonsense")
    check_failure([program], 2, "--stdio")
    help_text = subprocess.run([program, "--help"], capture_output=True, check=True, encoding="utf-8").stdout
    assert "--stdio" in help_text


main()
