"""Efforts from minimal to max, in the words that each provider knows."""

from typing import Any

import pytest
from tests.fixtures.contract import peer_of

from conversation_mcp.providers.definitions import Definition, load_definitions


def known(name: str) -> Definition:
    return load_definitions()[name]


def effort_in(body: dict[str, Any]) -> object:
    """Return the effort in a request of any family."""
    if "generation_config" in body:
        return body["generation_config"]["thinking_level"]
    return body["reasoning"]["effort"] if "reasoning" in body else body["reasoning_effort"]


EFFORTS = ("minimal", "low", "medium", "high", "max")


@pytest.mark.parametrize(
    ("name", "model", "words"),
    [
        ("openai", "gpt-5-mini", "minimal low medium high high*"),
        ("openai", "gpt-5.1", "low* low medium high high*"),
        ("openai", "gpt-5.2", "low* low medium high xhigh"),
        ("openai", "gpt-5.4-pro", "medium* medium* medium high xhigh"),
        ("openai", "gpt-5-pro", "high* high* high* high high*"),
        ("openai", "gpt-6-luna", "low* low medium high xhigh"),
        ("openai", "o3", "low* low medium high high*"),
        ("xai", "grok-4", "low* low medium high high*"),
        ("gemini", "gemini-2.5-pro", "minimal low medium high high*"),
        ("gemini", "gemini-3.1-pro-preview", "low* low medium high high*"),
        ("gemini", "gemini-3.8-flash", "low* low medium high high*"),
        ("gemini", "gemini-4-neon", "low* low medium high xhigh"),
        ("openrouter", "some/model", "minimal low medium high xhigh"),
        ("mistral", "m", "low* low medium high high*"),
        ("llamacpp", "m", "low* low medium high high*"),
        ("custom", "m", "low* low medium high high*"),
    ],
)
async def test_each_effort_is_sent_in_the_words_of_the_model_and_another_one_is_said(
    name: str, model: str, words: str
) -> None:
    async with peer_of(known(name), models=(model,)) as peer:
        for effort, expected in zip(EFFORTS, words.split(), strict=True):
            answer = await peer.answer("Why?", model=model, reasoning_effort=effort)
            body = peer.server.requests[-1]
            sent = effort_in(body)
            said = [notice for notice in answer.notices if "reasoning_effort" in notice]
            assert sent == expected.rstrip("*")
            where = f"{model} at {known(name).title}"
            nearest = f"reasoning_effort {effort} was sent as {sent}, the nearest that {where} is known to take."
            assert said == [nearest] * expected.endswith("*")


async def test_the_words_can_be_set_for_a_provider_of_ones_own() -> None:
    words = {"efforts": [{"models": ["big-*"], "max": "ultra"}]}
    async with peer_of(known("custom"), quirks=words) as peer:
        await peer.answer("Why?", model="big-1", reasoning_effort="max")
        await peer.answer("Why?", model="small", reasoning_effort="max")
        assert [body["reasoning_effort"] for body in peer.server.requests] == ["ultra", "high"]
