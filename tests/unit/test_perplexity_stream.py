"""What comes back on a stream, and how it is told."""

from contextlib import aclosing

import anyio
import httpx
import pytest
from inline_snapshot import snapshot
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.agent_client import asking
from tests.fixtures.asked import answer_of, request

from conversation_mcp.errors import StreamBrokenError
from conversation_mcp.providers.base import Answer, Finished, Progress, Started, TextDelta
from conversation_mcp.records.models import Source
from conversation_mcp.records.usage import Usage


def page_source(number: int, title: str | None = None, date: str | None = None) -> Source:
    snippet = f"What page {number} says."
    return Source.of(id=number, title=title, url=f"https://example.org/{number}", date=date, snippet=snippet)


async def test_a_run_is_told_from_its_id_to_its_answer() -> None:
    async with asking() as asked:
        events = await asked.events("Which river?")
    assert events[:5] == snapshot(
        [
            Started(response_id="resp_00000000-0000-4000-8000-000000000001", background=False),
            Progress(text="searching: Which river? | more"),
            Progress(text="reading 2 pages"),
            Progress(text="writing the answer"),
            TextDelta(text="answer 1"),
        ]
    )
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "answer 1 to: Which river?[1]"


async def test_an_answer_carries_all_its_facts() -> None:
    async with asking() as asked:
        answer = await asked.answer("Which river?")
    assert answer == snapshot(
        Answer(
            content="answer 1 to: Which river?[1]",
            sources=(
                page_source(1, title="Page 1", date="2026-06-10"),
                page_source(2, title="Page 2", date="2026-06-10"),
            ),
            usage=Usage(input_tokens=100, output_tokens=13, reasoning_tokens=3, cost_usd=0.0031),
            model="openai/gpt-6-luna",
            preset="fast",
            response_id="resp_00000000-0000-4000-8000-000000000001",
        )
    )


@pytest.mark.parametrize("fault", ["no_event_lines", "crlf", "unknown_events"])
async def test_odd_but_legal_streams_are_read(fault: str) -> None:
    async with asking() as asked:
        answer = await asked.answer(f"Why? [[fault:{fault}]]")
    assert (answer.content, len(answer.sources)) == ("answer 1 to: Why?[1]", 2)


async def test_text_whose_characters_are_cut_by_chunks_is_whole() -> None:
    async with asking() as asked:
        events = await asked.events("Why? [[fault:split_bytes]]")
    assert answer_of(events).content == "größer 漢字 🙂 answer 1 to: Why?[1]"
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == answer_of(events).content


async def test_every_script_survives_and_a_half_surrogate_is_replaced() -> None:
    async with asking() as asked:
        answer = await asked.answer("Why? [[fault:unicode]]")
    assert answer.content == "emoji 🙂 漢字 עברית nul \x00 lone \ufffd end[1]"


async def test_hidden_reasoning_is_no_part_of_the_answer_nor_of_what_is_shown_meanwhile() -> None:
    async with asking() as asked:
        events = await asked.events("Why? [[fault:think]]")
    answer = answer_of(events)
    assert (answer.content, answer.reasoning) == ("answer 1 to: Why?[1]", "secret plan")
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == answer.content


@pytest.mark.slow
async def test_a_large_answer_arrives_whole() -> None:
    async with asking() as asked:
        answer = await asked.answer("Why? [[fault:big]]")
    assert len(answer.content) == 2_000_003


@pytest.mark.parametrize(
    ("fault", "sources"),
    [
        ("null_dates", [page_source(1), Source(id=2, url="https://example.org/2")]),
        ("only_fetch", [Source(id=1, title="Fetched", url="https://example.org/f")]),
        (
            "many_results",
            [
                *(page_source(number, title=f"Page {number}", date="2026-06-10") for number in (1, 2, 31)),
                Source(id=32, title="Fetched", url="https://example.org/f"),
            ],
        ),
    ],
)
async def test_sources_are_collected_from_wherever_they_stand(fault: str, sources: list[Source]) -> None:
    async with asking() as asked:
        answer = await asked.answer(f"Why? [[fault:{fault}]]")
    assert list(answer.sources) == sources


async def test_a_cut_answer_is_an_answer_that_says_so() -> None:
    async with asking() as asked:
        answer = await asked.answer("Why? [[fault:incomplete]]")
    assert (answer.content, answer.finish_reason) == ("answer 1 to: Why?[1]", "length")
    assert answer.notices == ("the answer was cut at the provider's token limit (billed $0.0031). Ask it to continue.",)


async def test_retries_stand_in_the_notices_of_the_answer() -> None:
    async with asking() as asked:
        events = await asked.events("Why? [[fault:429:1]]")
        assert events[0] == Progress("rate limited, trying again in 0 s")
        assert answer_of(events).notices == (
            "The provider was asked again 1 time after being rate limited; nothing was billed for that.",
        )
        assert asked.agent.paid == ["Why? [[fault:429:1]]"]


@pytest.mark.parametrize("response_id", ["resp_../../x", "_", "", "a" * 201, "resp_1\n", None, 7])
async def test_an_id_that_is_none_is_never_told(response_id: object) -> None:
    def reply(_request: httpx.Request) -> httpx.Response:
        run = {"id": response_id, "output": [{"type": "message", "content": [{"type": "output_text", "text": "a"}]}]}
        event = httpx.Response(200, json={"type": "response.completed", "response": run}).content
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=b"data: " + event + b"\n\n")

    async with asking(transport=httpx.MockTransport(reply)) as asked:
        events = await asked.events("Why?")
    assert [type(event) for event in events] == [Finished]


async def test_the_last_event_counts_even_when_the_stream_ends_in_it() -> None:
    event = b'data: {"type":"response.incomplete","response":{"output":[{"type":"message","content":"a"}]}}'
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, content=event)
    )
    async with asking(transport=transport) as asked:
        assert (await asked.answer("Why?")).content == "a"
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, content=event[:-3])
    )
    async with asking(transport=transport) as asked:
        with pytest.raises(StreamBrokenError, match="broke off"):
            await asked.answer("Why?")


def one_is_gone(agent: LoopbackAgent) -> bool:
    return agent.state.disconnects == 1


async def test_giving_up_closes_the_connection() -> None:
    async with asking() as asked:
        told = anyio.Event()

        async def consume() -> None:
            async with aclosing(asked.provider.ask(request("Why? [[hold]]"))) as events:
                async for event in events:
                    if isinstance(event, TextDelta):
                        told.set()

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(consume)
                await told.wait()
                tasks.cancel_scope.cancel()
        assert await anyio.to_thread.run_sync(asked.agent.wait_until, one_is_gone)
        assert asked.agent.creates == 1


async def test_stopping_to_listen_closes_the_connection() -> None:
    async with asking() as asked:
        async with aclosing(asked.provider.ask(request("Why? [[hold]]"))) as events:
            assert isinstance(await anext(events), Started)
        assert await anyio.to_thread.run_sync(asked.agent.wait_until, one_is_gone)


async def test_what_a_broken_run_is_known_to_have_taken_stands_on_its_error() -> None:
    event = b'data: {"type":"response.in_progress","response":{"usage":{"input_tokens":7}}}\n\n'
    transport = httpx.MockTransport(
        lambda _: httpx.Response(200, headers={"content-type": "text/event-stream"}, content=event)
    )
    async with asking(transport=transport) as asked:
        with pytest.raises(StreamBrokenError) as caught:
            await asked.answer("Why?")
    assert caught.value.usage == {"inputTokens": 7}
