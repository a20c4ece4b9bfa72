#!/usr/bin/env python3
"""Makes reference.json: texts with their tokens and vectors, by an implementation that shares nothing with this crate.

    python3 -m venv /tmp/tools && /tmp/tools/bin/pip install numpy safetensors tokenizers
    /tmp/tools/bin/python packaging/embedder/reference.py FOLDER

FOLDER has model.safetensors and tokenizer.json. It computes in 64-bit floats, with the exact error function.
"""

import base64
import json
import math
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HERE = Path(__file__).parent
LAYERS, HEADS, MAX_TOKENS, EPSILON = 6, 12, 256, 1e-12
TEXTS = [
    "",
    "how do we rotate the signing keys?",
    "A man is eating food.",
    "fn main() -> ExitCode { let x = a::<u8>()?; }",
    "don't  stop [SEP] now — “quoted” ½ ² ﬁ Ⅷ",
    "Ünïcödé, naïve café; İstanbul ẞ ΑΣ",
    "中文文本和日本語テキスト、です。 한국어 हिन्दी ไทย",
    "a\u200bb\u00adc\ufeffd\u2028e\u0085f\ufffdg\0h\u3000i 👨‍👩‍👧 😀",
    "x" * 100 + " " + "y" * 101,
    "unaffable tokenization of antidisestablishmentarianism, 3.14159e-10",
    "one two three four five six seven eight nine ten eleven twelve",
    "The notes of a project say why. " * 20,
    "word " * 400,
]
erf = np.vectorize(math.erf, otypes=[float])


class Model:
    def __init__(self, folder: Path) -> None:
        weights = load_file(folder / "model.safetensors")
        self.weights = {name: value.astype(np.float64) for name, value in weights.items()}
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(MAX_TOKENS)
        # Without this, [SEP] in a text would be the end of the text.
        self.tokenizer.encode_special_tokens = True

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def normalize(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * self.weights[f"{name}.LayerNorm.weight"] + self.weights[f"{name}.LayerNorm.bias"]

    def attention(self, x: np.ndarray, name: str) -> np.ndarray:
        size = x.shape[1] // HEADS

        def heads(part: str) -> np.ndarray:
            return self.linear(x, f"{name}.self.{part}").reshape(len(x), HEADS, size).transpose(1, 0, 2)

        scores = heads("query") @ heads("key").transpose(0, 2, 1) / math.sqrt(size)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ heads("value")).transpose(1, 0, 2).reshape(x.shape)
        return self.linear(mixed, f"{name}.output.dense")

    def embed(self, tokens: list[int]) -> np.ndarray:
        x = self.weights["embeddings.word_embeddings.weight"][tokens]
        x = x + self.weights["embeddings.position_embeddings.weight"][: len(tokens)]
        x = self.normalize(x + self.weights["embeddings.token_type_embeddings.weight"][0], "embeddings")
        for number in range(LAYERS):
            name = f"encoder.layer.{number}"
            x = self.normalize(x + self.attention(x, f"{name}.attention"), f"{name}.attention.output")
            inner = self.linear(x, f"{name}.intermediate.dense")
            inner *= (1 + erf(inner / math.sqrt(2))) / 2
            x = self.normalize(x + self.linear(inner, f"{name}.output.dense"), f"{name}.output")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def main() -> None:
    model = Model(Path(sys.argv[1]))
    lines = []
    for text in TEXTS:
        tokens = model.tokenizer.encode(text).ids
        vector = base64.b64encode(model.embed(tokens).astype("<f4").tobytes()).decode()
        lines.append(json.dumps({"text": text, "tokens": tokens, "vector": vector}))
    (HERE / "reference.json").write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


main()
