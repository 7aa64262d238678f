"""How many tokens a text is taken for: near the truth for what people write, and quick for what they paste."""

import time
from base64 import b64encode
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_mcp.providers.estimate import estimated_tokens, most_tokens_of, tokens_of
from conversation_mcp.records.chat import ChatMessage

PROSE = "The quick brown fox jumps over the lazy dog, and nobody in the whole village knows why it does so. "
CODE = "def total(prices: list[float]) -> float:\n    return sum(price * 1.2 for price in prices)\n"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. "
CHINESE = "天地玄黄，宇宙洪荒。日月盈昃，辰宿列张。"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("word", 1), ("hello world", 3), (PROSE, 21), (CODE, 25), (RUSSIAN, 16), (CHINESE, 19)],
)
def test_ordinary_text_is_near_to_what_a_tokenizer_counts(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == pytest.approx(tokens, rel=0.35, abs=1)


def test_encoded_bytes_count_for_what_they_are() -> None:
    blob = b64encode(Random(1).randbytes(30_000)).decode()
    assert estimated_tokens(blob) == pytest.approx(len(blob) / 1.45, rel=0.05)


@pytest.mark.parametrize("character", ["a", " ", "\n", "7", ".", "漢", "😀", "\x00", "Aa1"])
def test_no_text_is_slow_or_counts_as_nothing(character: str) -> None:
    text = character * 200_000
    started = time.perf_counter()
    assert estimated_tokens(text) >= len(text) / 16
    assert time.perf_counter() - started < 60


@given(st.lists(st.text() | st.text("a1 .é漢😀\n") | st.text("aA1", min_size=64)))
def test_what_takes_no_look_at_the_texts_is_never_less_than_the_estimate(texts: list[str]) -> None:
    messages = [ChatMessage("user", text) for text in texts]
    assert most_tokens_of(messages) >= tokens_of(messages)


@given(st.text(), st.text())
def test_more_text_never_has_fewer_tokens_than_half_of_its_parts(one: str, other: str) -> None:
    assert 2 * estimated_tokens(one + other) + 2 >= max(estimated_tokens(one), estimated_tokens(other))
