"""Answers that are cut, too long, or have reasoning beside them."""

from collections.abc import AsyncGenerator

from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving, text_of

from conversation_mcp.providers.base import Answer, Event, Finished, Request


async def test_an_answer_cut_at_the_token_limit_is_kept_and_says_so(home: Home) -> None:  # defect 13
    async def cut(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer("half", finish_reason="length", notices=("the answer was cut",)))

    async with serving(home, FakeProvider(cut)) as client:
        data = data_of(await client.call_tool("search", {"query": "one?"}))
    assert (data["status"], data["notices"]) == ("incomplete", ["the answer was cut"])
    assert home.only()["messages"][-1]["finishReason"] == "length"


async def test_a_result_above_the_limit_is_cut_at_a_paragraph_and_names_the_file(home: Home) -> None:  # defect 18
    text = "\n\n".join(f"Paragraph {number} " + "word " * 40 for number in range(100))

    async def long(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer(text))

    async with serving(home, FakeProvider(long), max_result_chars=2000) as client:
        result = await client.call_tool("search", {"query": "one?"})
        data = data_of(result)
        history = data_of(
            await client.call_tool("get_conversation_history", {"conversationId": data["conversationId"]})
        )
    assert len(data["rawResultText"]) <= 2000
    assert text.startswith(data["rawResultText"] + "\n\n")
    assert data["conversationPath"] in data["notices"][0]
    assert data["notices"][0] in text_of(result)
    assert home.only()["messages"][-1]["content"] == text
    assert sum(len(message["content"]) for message in history["messages"]) <= 2000
    assert data["conversationPath"] in history["notices"][0]


async def test_reasoning_is_kept_apart_and_shown_only_when_asked_for(home: Home) -> None:
    async def think(_request: Request) -> AsyncGenerator[Event]:
        yield Finished(Answer("visible", reasoning="hidden"))

    async with serving(home, FakeProvider(think, think)) as client:
        plain = await client.call_tool("search", {"query": "one?"})
        shown = await client.call_tool("search", {"query": "one?", "showThinking": True})
    assert "hidden" not in text_of(plain)
    assert "reasoning" not in data_of(plain)
    assert "hidden" in text_of(shown)
    assert data_of(shown)["reasoning"] == "hidden"
