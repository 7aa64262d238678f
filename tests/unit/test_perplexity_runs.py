"""Runs without a connection: submitted, watched, fetched by whoever knows the id, stopped."""

from contextlib import aclosing

import httpx
import pytest
from tests.fixtures.agent_client import Asking, asking
from tests.fixtures.asked import answer_of, request

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderAuthError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RunCancelledError,
    RunLostError,
    StreamBrokenError,
)
from conversation_mcp.providers.base import Event, Finished, Progress, Started, StillRunning, TextDelta

RUN = "resp_00000000-0000-4000-8000-000000000001"


async def research(asked: Asking, question: str) -> list[Event]:
    return await asked.events(question, mode="deep_research", preset="high")


async def submit(asked: Asking, question: str) -> str:
    """Submit a research and forget it as soon as it has an id."""
    async with aclosing(asked.provider.ask(request(question, mode="deep_research", preset="high"))) as events:
        started = await anext(events)
    assert isinstance(started, Started)
    return started.response_id


async def test_a_research_is_submitted_once_and_watched_until_it_ends() -> None:
    async with asking() as asked:
        events = await research(asked, "Why? [[polls:3]]")
        assert events[:4] == [
            Started(RUN, background=True),
            Progress("waiting for its turn"),
            Progress("reading 2 pages"),
            TextDelta("answer 1 to: Why?[1]"),
        ]
        answer = answer_of(events)
        assert (answer.content, answer.preset, answer.response_id) == ("answer 1 to: Why?[1]", "high", RUN)
        assert answer.usage
        assert answer.usage.cost_usd == 0.31
        assert (asked.agent.creates, asked.agent.state.looks) == (1, 4)


async def test_polling_slows_down_to_its_bound() -> None:
    async with asking() as asked:
        await research(asked, "Why? [[polls:7]]")
        assert asked.time.sleeps == [2, 3, 4.5, 6.75, 10, 10, 10, 10]


@pytest.mark.parametrize("fault", ["poll_500:3", "poll_html:3", "poll_drop:3", "poll_429:3", "poll_404:3"])
async def test_looks_that_fail_for_a_passing_reason_are_repeated(fault: str) -> None:
    async with asking() as asked:
        assert answer_of(await research(asked, f"Why? [[fault:{fault}]]")).content == "answer 1 to: Why?[1]"
        assert asked.agent.creates == 1


async def test_only_failures_in_a_row_count() -> None:
    looks = 0

    def reply(sent: httpx.Request) -> httpx.Response:
        nonlocal looks
        looks += sent.method == "GET"
        if looks % 2:
            return httpx.Response(503)
        status = "completed" if looks == 40 else "in_progress"
        return httpx.Response(200, json={"id": RUN, "status": status, "output": [{"type": "message", "content": "a"}]})

    async with asking(transport=httpx.MockTransport(reply)) as asked:
        assert answer_of(await research(asked, "Why?")).content == "a"


@pytest.mark.parametrize(("fault", "looks"), [("poll_500", 9), ("poll_429", 9), ("poll_401", 1), ("poll_402", 1)])
async def test_a_run_that_cannot_be_looked_at_is_given_up_but_not_called_over(fault: str, looks: int) -> None:
    async with asking() as asked:
        with pytest.raises(ProviderUnavailableError, match="could not be asked about the run") as caught:
            await research(asked, f"Why? [[fault:{fault}]]")
        assert not caught.value.ends_run
        assert "not paid for again" in caught.value.sentence()
        assert (asked.agent.creates, asked.agent.state.looks) == (1, looks)


async def test_a_run_that_stays_unknown_is_lost_after_a_grace_period() -> None:
    async with asking() as asked:
        with pytest.raises(RunLostError):
            await research(asked, "Why? [[fault:lost]]")
        assert 30 < asked.time.now < 42
        with pytest.raises(RunLostError):
            await asked.provider.fetch(RUN)


async def test_a_run_that_never_ends_is_given_up_and_can_be_fetched_later() -> None:
    async with asking(timeouts={"research_seconds": 60}) as asked:
        with pytest.raises(ProviderTimeoutError, match="finish the run within 60 s") as caught:
            await research(asked, "Why? [[hold]]")
        assert "looked up again by its id" in caught.value.sentence()
        asked.agent.release()
        assert isinstance(await asked.provider.fetch(RUN), Finished)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("failed", ProviderUnavailableError),
        ("cancelled", RunCancelledError),
        ("incomplete_empty", AnswerIncompleteError),
        ("empty", AnswerIncompleteError),
    ],
)
async def test_a_run_that_ends_without_an_answer_raises_for_whoever_looks(
    fault: str, kind: type[ProviderError]
) -> None:
    async with asking() as asked:
        for attempt in (research(asked, f"Why? [[fault:{fault}]]"), asked.provider.fetch(RUN)):
            with pytest.raises(kind) as caught:
                await attempt
            assert caught.value.ends_run
            assert caught.value.usage.get("costUsd") == (None if fault == "cancelled" else 0.31)


async def test_a_refused_research_starts_nothing() -> None:
    async with asking() as asked:
        with pytest.raises(ProviderAuthError):
            await research(asked, "Why? [[fault:401]]")
        assert (asked.agent.paid, asked.agent.state.looks) == ([], 0)


@pytest.mark.parametrize("fault", ["html_200", "dropped_before", "500"])
async def test_a_submission_that_may_have_arrived_is_not_repeated(fault: str) -> None:
    async with asking() as asked:
        with pytest.raises(ProviderUnavailableError) as caught:
            await research(asked, f"Why? [[fault:{fault}]]")
        assert (caught.value.maybe_billed, asked.agent.creates) == (True, 1)


async def test_a_run_is_fetched_by_a_provider_that_never_saw_it() -> None:
    async with asking() as asked, asking(base_url=asked.agent.base_url) as other:
        run = await submit(asked, "Why? [[polls:2]]")
        assert await other.provider.fetch(run) == StillRunning("waiting for its turn")
        assert await other.provider.fetch(run) == StillRunning("reading 2 pages")
        found = await other.provider.fetch(run)
        assert isinstance(found, Finished)
        assert (found.answer.content, found.answer.model) == ("answer 1 to: Why?[1]", "openai/gpt-6-luna")
        assert (asked.agent.creates, other.agent.creates) == (1, 0)


async def test_the_answer_of_a_stream_that_broke_is_fetched_with_its_related_questions() -> None:
    async with asking() as asked:
        with pytest.raises(ProviderUnavailableError):
            await asked.events("Why? [[fault:dropped]]", return_related_questions=True)
        found = await asked.provider.fetch(RUN)
        assert isinstance(found, Finished)
        assert (found.answer.content, len(found.answer.related_questions)) == ("answer 1 to: Why?[1]", 3)
        assert found.answer.notices == ()


async def test_a_stream_that_broke_and_whose_run_is_lost_stays_lost() -> None:
    async with asking() as asked:
        with pytest.raises(StreamBrokenError):
            await asked.events("Why? [[fault:early_eof_lost]]")
        with pytest.raises(RunLostError):
            await asked.provider.fetch(RUN)


async def test_a_run_is_followed_to_its_end() -> None:
    async with asking() as asked:
        run = await submit(asked, "Why? [[polls:2]]")
        events = [event async for event in asked.provider.follow(run)]
        assert events[0] == Progress("waiting for its turn")
        assert answer_of(events).content == "answer 1 to: Why?[1]"
        assert asked.agent.creates == 1


@pytest.mark.parametrize("run", ["resp_unknown", "resp_../../v1", "", "other"])
async def test_an_unknown_run_is_lost_at_once(run: str) -> None:
    async with asking() as asked:
        for attempt in (asked.provider.fetch(run), asked.provider.cancel(run), anext(asked.provider.follow(run))):
            with pytest.raises(RunLostError):
                await attempt
        assert (asked.time.sleeps, asked.agent.state.cancels) == ([], [])


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("poll_500", "HTTP 500: internal error"),
        ("poll_401", "Perplexity refused the key"),
        ("poll_drop", "the connection failed"),
        ("poll_html", "the answer is not JSON"),
    ],
)
async def test_a_look_that_fails_says_nothing_about_the_run(fault: str, cause: str) -> None:
    async with asking() as asked:
        run = await submit(asked, f"Why? [[fault:{fault}]]")
        with pytest.raises(ProviderUnavailableError) as caught:
            await asked.provider.fetch(run)
        assert caught.value.message == f"Perplexity could not be asked about the run: {cause}."
        assert not caught.value.ends_run


async def test_a_look_that_takes_too_long_is_given_up() -> None:
    async with asking(timeouts={"look_seconds": 0.2}) as asked:
        run = await submit(asked, "Why? [[fault:poll_silent]]")
        with pytest.raises(ProviderTimeoutError, match="show the run"):
            await asked.provider.fetch(run)


async def test_a_running_run_is_stopped_with_one_call() -> None:
    async with asking() as asked:
        run = await submit(asked, "Why? [[hold]]")
        with pytest.raises(RunCancelledError):
            await asked.provider.cancel(run)
        assert asked.agent.state.cancels == [run]


async def test_a_run_that_ended_before_is_not_stopped_but_returned() -> None:
    async with asking() as asked:
        await research(asked, "Why?")
        found = await asked.provider.cancel(RUN)
        assert isinstance(found, Finished)
        assert asked.agent.state.cancels == []


async def test_a_run_that_ends_while_it_is_being_stopped_is_returned() -> None:
    async with asking() as asked:
        run = await submit(asked, "Why? [[polls:1]]")
        asked.agent.state.ends_before_cancel = True
        assert isinstance(await asked.provider.cancel(run), Finished)
        assert asked.agent.state.cancels == [run]
