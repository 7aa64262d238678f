"""The ends of answers of the Messages API, by what a user sees of them."""

import pytest
from tests.fixtures.asked import answer_of, request
from tests.fixtures.messages_client import MessagesPeer, talking
from tests.fixtures.messages_wire import PAGES
from tests.fixtures.raw_answers import shown_in

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ContextTooLargeError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitedError,
    ProviderUnavailableError,
)
from conversation_mcp.providers.base import Event, TextDelta
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.usage import Usage

PAUSE_USAGE = Usage(input_tokens=13, written_input_tokens=3, output_tokens=5, reasoning_tokens=2)


async def test_a_paused_answer_goes_on_by_itself_and_nothing_of_it_is_cut() -> None:
    async with talking() as peer:
        events = await peer.events("Why? [[fault:pause]]", mode="search")
        answer = answer_of(events)
        first, second = peer.sent
    assert answer.content.startswith("part 1, answer 1 to: Why?\n\nIt is sorted [1]")
    assert (answer.finish_reason, shown_in(events)) == ("stop", answer.content)
    assert {name: second[name] for name in second if name != "messages"} == {
        name: first[name] for name in first if name != "messages"
    }
    assert second["messages"][:-1] == first["messages"]
    content = second["messages"][-1]["content"]
    kinds = ["thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result", "text"]
    assert [block["type"] for block in content] == kinds
    assert content[0]["signature"] == "sig-msg_1"
    assert content[3]["content"] == PAGES


async def test_a_paused_answer_counts_what_both_calls_took_and_only_once() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why? [[fault:pause]]")
    assert answer.usage == Usage(input_tokens=26, written_input_tokens=6, output_tokens=10, reasoning_tokens=4)


async def test_the_question_after_a_paused_answer_is_taken() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why? [[fault:pause]]", mode="search")
        await peer.answer("And?", ChatMessage("user", "Why?"), ChatMessage("assistant", answer.content), mode="search")
        assert [message["role"] for message in peer.sent[-1]["messages"]] == ["user", "assistant", "user"]


async def test_an_answer_that_pauses_again_and_again_is_cut_and_says_so() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why? [[fault:pauses]]")
        assert len(peer.sent) == 6
    assert answer.finish_reason == "length"
    assert answer.content.startswith("part 1, part 2, part 3")
    assert any("it paused more than 5 times" in notice for notice in answer.notices)


async def test_a_paused_answer_that_is_not_taken_up_again_may_have_been_billed() -> None:
    async with talking() as peer:
        with pytest.raises(ProviderUnavailableError, match="paused the answer and did not go on") as caught:
            await peer.answer("Why? [[fault:pause_529]]")
    assert (caught.value.is_free, caught.value.usage) == (False, PAUSE_USAGE.data())


async def test_a_paused_answer_that_breaks_off_is_a_failure_with_its_beginning_shown() -> None:
    async with talking() as peer:
        seen, error = await _failed(peer, "Why? [[fault:pause_dropped]]")
    assert shown_in(seen).startswith("part 1, answer 1")
    assert isinstance(error, ProviderUnavailableError)
    assert not error.is_free


@pytest.mark.parametrize(
    ("fault", "reason"), [("cut", "at the provider's token limit"), ("window_full", "the window of the model is full")]
)
async def test_an_answer_that_was_cut_says_where(fault: str, reason: str) -> None:
    async with talking() as peer:
        answer = await peer.answer(f"Why? [[fault:{fault}]]")
    assert answer.finish_reason == "length"
    assert any(reason in notice for notice in answer.notices)


async def test_thinking_alone_is_no_answer() -> None:
    async with talking() as peer:
        with pytest.raises(
            AnswerIncompleteError, match="reached the limit of the answer before it wrote any text"
        ) as caught:
            await peer.answer("Why? [[fault:cut_empty]]")
    assert caught.value.usage["reasoningTokens"] == 2


async def test_a_refusal_says_why_and_that_it_costs_nothing_before_any_text() -> None:
    async with talking() as peer:
        with pytest.raises(AnswerIncompleteError) as caught:
            await peer.answer("Why? [[fault:refusal]]")
    assert "refused to answer (cyber: It asks for an exploit)" in caught.value.sentence()
    assert "Nothing was billed" in caught.value.sentence()
    assert caught.value.usage == {}


async def test_what_came_before_a_refusal_is_taken_back_and_billed() -> None:
    async with talking() as peer:
        seen, error = await _failed(peer, "Why? [[fault:refusal_late]]")
    assert any(isinstance(event, TextDelta) and event.text for event in seen)
    assert shown_in(seen) == ""
    assert "is billed" in error.sentence()
    assert error.usage["outputTokens"] == 5


async def test_a_server_that_is_full_before_it_begins_costs_nothing_and_others_may_be_asked() -> None:
    async with talking() as peer:
        with pytest.raises(ProviderUnavailableError, match="HTTP 529: Overloaded") as caught:
            await peer.answer("Why? [[fault:529]]")
        assert (caught.value.is_free, len(peer.sent)) == (True, 1)


@pytest.mark.parametrize("fault", ["overloaded", "error_frame"])
async def test_an_overload_within_a_stream_is_a_failure_and_no_answer(fault: str) -> None:
    async with talking() as peer:
        with pytest.raises(ProviderUnavailableError, match="could not finish the answer: Overloaded") as caught:
            await peer.answer(f"Why? [[fault:{fault}]]")
        assert (caught.value.is_free, len(peer.sent)) == (False, 1)


async def test_a_wait_of_an_hour_is_told_and_not_waited_for() -> None:
    async with talking() as peer:
        with pytest.raises(ProviderRateLimitedError) as caught:
            await peer.answer("Why? [[fault:429_long]]")
        assert peer.time.sleeps == []
    assert "Ask again in 3600 s." in caught.value.sentence()


@pytest.mark.parametrize("fault", ["no_credit", "spend_limit"])
async def test_an_empty_account_is_not_a_bad_request(fault: str) -> None:
    async with talking() as peer:
        with pytest.raises(ProviderQuotaError):
            await peer.answer(f"Why? [[fault:{fault}]]")


async def test_a_conversation_that_is_too_long_is_told_with_its_size() -> None:
    async with talking() as peer:
        with pytest.raises(ContextTooLargeError, match=r"215,?042"):
            await peer.answer("Why? [[fault:too_long]]")


async def test_kinds_of_events_that_nobody_knows_are_passed_over() -> None:
    async with talking() as peer:
        assert (await peer.answer("Why? [[fault:unknown]]")).content == "answer 1 to: Why?"


async def test_a_tool_that_nobody_offered_is_told() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why? [[fault:tool_too]]")
    assert "The model also wanted to call a tool; that was not done." in answer.notices


async def _failed(peer: MessagesPeer, question: str) -> tuple[list[Event], ProviderError]:
    """Ask and return what came before the failure, and the failure."""
    seen: list[Event] = []
    try:
        async for event in peer.provider.ask(request(question, mode="chat", model="small-1")):
            seen.append(event)  # noqa: PERF401 -- what was seen before it failed counts
    except ProviderError as error:
        return seen, error
    raise AssertionError(question)
