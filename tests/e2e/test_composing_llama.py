"""Requests that are composed for a small window, and counted by the tokenizer of a real server."""

from collections.abc import Generator
from functools import cache
from random import Random

import httpx
import pytest
from tests.fixtures.composing import Talk, body, file
from tests.fixtures.engines import LLAMA_MODEL, llama

from conversation_mcp.prompting.budget import Budget
from conversation_mcp.prompting.measure import Measure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
WINDOW_TOKENS, ANSWER_TOKENS, TURNS, FILES = 4096, 32, 200, 40
TEMPLATE_TOKENS = 16
"""What the server's template puts around each message: its role, a colon, a space and a line end, and the beginning."""


@pytest.fixture(scope="module")
def server() -> Generator[httpx.Client]:
    with (
        llama(window_tokens=WINDOW_TOKENS) as base_url,
        httpx.Client(base_url=base_url.removesuffix("/v1"), timeout=60) as client,
    ):
        yield client


def test_a_long_conversation_with_files_never_overflows_a_small_window(server: httpx.Client) -> None:
    @cache
    def tokens(text: str) -> int:
        return len(server.post("/tokenize", json={"content": text}).raise_for_status().json()["tokens"])

    limit, random = WINDOW_TOKENS - ANSWER_TOKENS - 1, Random(1)
    measure = Measure(lambda text: tokens(text) + TEMPLATE_TOKENS, most_per_char=4.0)
    talk = Talk(Budget(limit, model=LLAMA_MODEL), measure=measure)
    for turn in range(TURNS):
        name, text = f"/f{turn // 2 % FILES}", body(f"{turn // 9}", random.randrange(1, 24))
        made = talk.ask(
            f"question {turn} " + "the tree " * random.randrange(20),
            *[file(name, text)] * (turn % 2),
            answer="the answer is a key\n",
        )
        asked = [{"role": message.role, "content": message.content} for message in made.messages]
        answer = server.post("/v1/chat/completions", json={"messages": asked, "max_tokens": ANSWER_TOKENS})
        assert answer.status_code == 200, answer.text
        assert answer.json()["usage"]["prompt_tokens"] <= limit
    assert any(not part.is_sent for part in talk.composed().parts)
