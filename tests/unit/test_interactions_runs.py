"""Deep research at Gemini: an agent in the background that anybody with its id finds, watches and stops."""

import pytest
from tests.fixtures.agent_rules import Refusal
from tests.fixtures.asked import answer_of
from tests.fixtures.interactions_client import AGENT, gemini, submit
from tests.fixtures.interactions_wire import PAGES

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderAuthError,
    ProviderUnavailableError,
    RunCancelledError,
    RunLostError,
)
from conversation_mcp.providers.base import Finished, Progress, Started, StillRunning, TextDelta
from conversation_mcp.records.chat import ChatMessage

RUN = "v1_00000000000000000000000000000001"
BROKEN = Refusal("the service is down", "service_unavailable", status=503)


async def test_a_research_is_done_by_the_agent_and_its_id_comes_first() -> None:
    before = (ChatMessage("system", "Be thorough."), ChatMessage("user", "One?"), ChatMessage("assistant", "1"))
    async with gemini() as (peer, server):
        events = await peer.events("Why?", *before, mode="deep_research", model=None)
        assert events[:4] == [
            Started(RUN, background=True),
            Progress("waiting for its turn"),
            Progress("searching: Why?"),
            TextDelta("answer 2 to: Why?"),
        ]
        [body] = server.requests
    assert body == {
        "agent": AGENT,
        "input": [
            {"type": "user_input", "content": [{"type": "text", "text": "Be thorough.\n\nOne?"}]},
            {"type": "model_output", "content": [{"type": "text", "text": "1"}]},
            {"type": "user_input", "content": [{"type": "text", "text": "Why?"}]},
        ],
        "background": True,
        "store": True,
        "agent_config": {
            "type": "deep-research",
            "thinking_summaries": "auto",
            "visualization": "off",
            "collaborative_planning": False,
        },
    }
    answer = answer_of(events)
    assert (answer.content, answer.model, answer.response_id) == ("answer 2 to: Why?[1][2]", AGENT, RUN)
    assert [source.url for source in answer.sources] == [page["url"] for page in PAGES]


async def test_polling_slows_down_to_ten_seconds() -> None:
    async with gemini() as (peer, _):
        await peer.events("Why? [[polls:6]]", mode="deep_research", model=None)
        assert peer.time.sleeps == [2, 3, 4.5, 6.75, 10, 10, 10]


async def test_another_model_researches_with_the_tools_of_the_search() -> None:
    async with gemini() as (peer, server):
        answer = await peer.answer("Why?", mode="deep_research", model="small-1", reasoning_effort="high")
        [body] = server.requests
    assert (body["model"], body["background"], body["store"]) == ("small-1", True, True)
    assert body["tools"] == [{"type": "google_search"}, {"type": "url_context"}]
    assert (answer.content, answer.notices[:-1]) == ("answer 1 to: Why?[1][2]", ())


async def test_the_agent_takes_no_effort_and_that_is_said() -> None:
    async with gemini() as (peer, _):
        answer = await peer.answer("Why?", mode="deep_research", model=AGENT, reasoning_effort="high")
    assert "reasoning_effort was not applied; Gemini has no such field." in answer.notices


async def test_a_run_outlives_the_process_that_started_it() -> None:
    async with gemini() as (peer, server):
        run = await submit(peer, "Why? [[polls:2]]")
        assert isinstance(await peer.provider.fetch(run), StillRunning)
        [*_, last] = [event async for event in peer.provider.follow(run)]
        assert isinstance(last, Finished)
        assert (last.answer.content, last.answer.response_id) == ("answer 1 to: Why?[1][2]", run)
        assert len(server.requests) == 1


async def test_looks_that_fail_for_a_passing_reason_are_repeated() -> None:
    async with gemini() as (peer, server):
        run = await submit(peer, "Why? [[polls:1]]")
        server.look_faults += [BROKEN, Refusal("slow down", "rate_limit_exceeded", status=429), BROKEN]
        assert [type(event) async for event in peer.provider.follow(run)][-1] is Finished
        assert len(server.requests) == 1


async def test_a_look_that_fails_for_good_does_not_end_the_run() -> None:
    async with gemini() as (peer, server):
        run = await submit(peer, "Why? [[polls:0]]")
        server.look_faults += [Refusal("no", "authentication", status=401)]
        with pytest.raises(ProviderUnavailableError, match="could not be asked about the run") as caught:
            await peer.provider.fetch(run)
        assert not isinstance(caught.value, ProviderAuthError)
        assert "looked up again by its id" in caught.value.next_step()
        assert isinstance(await peer.provider.fetch(run), Finished)


async def test_a_run_that_google_no_longer_keeps_is_lost() -> None:
    async with gemini() as (peer, server):
        run = await submit(peer, "Why?")
        server.forget()
        with pytest.raises(RunLostError):
            await peer.provider.fetch(run)


@pytest.mark.parametrize("text", ["../models", "v1 x", "", "a" * 300, "v1?x=1"])
async def test_a_text_that_is_no_id_is_never_part_of_an_address(text: str) -> None:
    async with gemini() as (peer, server):
        with pytest.raises(RunLostError):
            await peer.provider.fetch(text)
        assert server.looks == []


async def test_a_stopped_run_is_over() -> None:
    async with gemini() as (peer, server):
        run = await submit(peer, "Why? [[polls:9]]")
        with pytest.raises(RunCancelledError):
            await peer.provider.cancel(run)
        with pytest.raises(RunCancelledError):
            await peer.provider.fetch(run)
        assert server.cancels == [run]


async def test_a_research_that_is_blocked_says_so() -> None:
    async with gemini() as (peer, _):
        run = await submit(peer, "Why? [[fault:refusal]] [[polls:0]]")
        with pytest.raises(AnswerIncompleteError, match="PROHIBITED_CONTENT"):
            await peer.provider.fetch(run)


async def test_a_research_that_fails_says_what_google_said() -> None:
    async with gemini() as (peer, _):
        run = await submit(peer, "Why? [[fault:failed]] [[polls:0]]")
        with pytest.raises(ProviderUnavailableError, match="the model broke down"):
            await peer.provider.fetch(run)
