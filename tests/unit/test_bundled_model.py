"""The bundled model cuts words and computes vectors as others do with the same weights."""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.bundled import bundled
from tests.fixtures.engines import PYTHON, require_engines
from tests.fixtures.processes import ROOT

from conversation_mcp.embeddings.catalog import open_bundled
from conversation_mcp.errors import EmbeddingsError

MARKS = ("[SEP]", "[CLS]")
PEER = ROOT / "tests" / "fixtures" / "minilm_peer.py"
LANGUAGES = [
    "Which language did we pick for the compiler?",
    "Der Müller überprüft die Größe der Straße.",
    "Žluťoučký kůň úpěl ďábelské ódy",
    "東京の天気は？ 今天天气很好。",
    "안녕하세요 세계",
    "مرحبا بالعالم، كيف حالك؟",
    "नमस्ते दुनिया",
    "สวัสดีชาวโลก",
    "Ελληνικά και Русский",
]
ODD = [
    "",
    " \t\r\n ",
    "unbelievably antidisestablishmentarianism snake_case_name camelCaseName v1.2.3-rc.4",
    "x" * 101,
    "a" * 100,
    "word " * 400,
    "nul\x00 and \x07 bell, soft\u00adhyphen, zero\u200bwidth, no\u00a0break, line\u2028end \ufffd",
    "emoji 😀👩‍👩‍👧 ☃ ½ ² ﬁ",
    "don't `code` {json: [1, 2]} <html> $9.99 50% #tag @me C++ a|b ~ ^",
    "İstanbul ẞ ǅ",
    "e\u0301 e\u0301\u0301 \u0301",
    "\U00020000 \uf900 \u3400",
    "line one\nline two\n\n```python\ndef f(x):\n    return x\n```",
]


def asked_of_peer(texts: Sequence[str]) -> dict[str, Any]:
    require_engines()
    with as_file(files("conversation_mcp_minilm")) as folder:
        command = [str(PYTHON), str(PEER), str(folder)]
        done = subprocess.run(command, input=json.dumps(list(texts)), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_pieces_and_vectors_are_those_of_the_original_tokenizer_and_of_onnxruntime() -> None:
    embedder = bundled()
    import numpy as np

    from conversation_mcp.embeddings.bundled.weights import load_vocabulary
    from conversation_mcp.embeddings.bundled.wordpiece import WordPiece

    code = Path(__file__).read_text(encoding="utf-8")
    for mark in MARKS:  # the original takes these for its own in any text
        code = code.replace(mark, "")
    texts = LANGUAGES + ODD + code.split("\n\n")
    expected = asked_of_peer(texts)
    cutter = WordPiece(load_vocabulary())
    for text, numbers in zip(texts, expected["numbers"], strict=True):
        assert cutter.numbers(text, 256) == numbers, text
    theirs, ours = np.array(expected["vectors"], np.float32), embedder.embed_passages(texts)
    assert np.abs(ours - theirs).max() < 1e-5


def test_texts_that_mean_something_similar_are_nearer_than_others() -> None:
    embedder = bundled()
    question, near, far = embedder.embed_passages(
        ["Which language did we pick?", "We decided to write it in Rust.", "The cake needs three eggs and some butter."]
    )
    assert question @ near > question @ far
    assert abs(float(near @ near) - 1) < 1e-5


def test_marks_of_the_model_are_text_like_any_other() -> None:
    bundled()
    from conversation_mcp.embeddings.bundled.weights import load_vocabulary
    from conversation_mcp.embeddings.bundled.wordpiece import WordPiece

    cutter = WordPiece(load_vocabulary())
    start, *inner, end = cutter.numbers(" ".join(MARKS), 256)
    assert {start, end}.isdisjoint(inner)


@pytest.mark.slow
def test_huge_texts_take_no_longer_than_what_is_read_of_them() -> None:
    embedder = bundled()
    short, long = embedder.embed_passages(["a b " * 128, "a b " * 5_000_000])
    assert float(short @ long) > 1 - 1e-6


def test_damaged_weights_are_said_to_be_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "conversation_mcp_minilm"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "model.safetensors").write_bytes(b"\x10" * 64)
    (package / "vocab.txt").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "conversation_mcp_minilm", raising=False)
    embedder = open_bundled()
    assert embedder
    with pytest.raises(EmbeddingsError, match=r"cannot be read .*Install conversation-mcp-minilm again"):
        embedder.embed_queries(["anything"])
    monkeypatch.delitem(sys.modules, "conversation_mcp_minilm", raising=False)


@pytest.mark.slow
def test_numpy_is_not_imported_before_the_first_text() -> None:
    code = "import sys; from conversation_mcp.embeddings.catalog import open_bundled; open_bundled(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
