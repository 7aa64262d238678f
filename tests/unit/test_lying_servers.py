"""Servers of Claude's and Gemini's wire that lie: the outcome is an answer or a failure, and nothing that came is lost."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from itertools import repeat
from typing import Any

import httpx
import pytest
from tests.fixtures.asked import request
from tests.fixtures.raw_answers import (
    SSE,
    Handler,
    Pieces,
    Wire,
    answer_in,
    answering,
    asked,
    provider_at,
    shown_in,
    streamed,
)

from conversation_mcp.errors import AnswerIncompleteError, ProviderError, ProviderUnavailableError
from conversation_mcp.providers.base import Answer, Event
from conversation_mcp.providers.wire import events

BOTH: tuple[Wire, ...] = ("messages", "interactions")
Frame = dict[str, Any]
CITED = {"type": "web_search_result_location", "url": "https://a.example/", "title": "A", "cited_text": "It is so."}
END = ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, {"type": "message_stop"})


def sending(*pieces: bytes) -> Handler:
    return lambda _: httpx.Response(200, headers=SSE, stream=Pieces(pieces))


def start(index: int, block: Frame | None = None) -> Frame:
    return {"type": "content_block_start", "index": index, "content_block": block or {"type": "text", "text": ""}}


def delta(index: int, kind: str, **fields: object) -> Frame:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index: int, words: str) -> Frame:
    return delta(index, "text_delta", text=words)


def stop(index: int) -> Frame:
    return {"type": "content_block_stop", "index": index}


def message(*frames: Frame, **usage: object) -> Handler:
    begun = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": usage}}
    return lambda _: streamed(begun, *frames, *END)


def step(index: int, kind: str = "model_output", **fields: object) -> Frame:
    return {"event_type": "step.start", "index": index, "step": {"type": kind, **fields}}


def said(index: int, words: str) -> Frame:
    return {"event_type": "step.delta", "index": index, "delta": {"type": "text", "text": words}}


def interaction(*frames: Frame, **facts: object) -> Handler:
    run = {"id": "v1_run", "model": "m", "status": "completed", **facts}
    begun = {"event_type": "interaction.created", "interaction": {"id": "v1_run", "status": "in_progress"}}
    return lambda _: streamed(begun, *frames, {"event_type": "interaction.completed", "interaction": run})


async def answered(handler: Handler, wire: Wire) -> tuple[Answer, str]:
    async with provider_at(handler, wire) as provider:
        found = await asked(provider)
    return answer_in(found), shown_in(found)


async def failed(handler: Handler, wire: Wire) -> tuple[ProviderError, str]:
    """Return the failure, and what was shown before it, which is kept as partial text."""
    seen: list[Event] = []
    async with provider_at(handler, wire) as provider:
        try:
            async with aclosing(provider.ask(request("Why?", mode="chat", model="m"))) as coming:
                async for event in coming:
                    seen.append(event)  # noqa: PERF401 -- what was seen before it failed counts
        except ProviderError as error:
            return error, shown_in(seen)
    raise AssertionError("it answered")


def body_of(wire: Wire, *texts: str) -> bytes:
    return answering(wire, texts)(httpx.Request("POST", "http://peer.example")).content


@pytest.mark.parametrize("wire", BOTH)
async def test_a_body_that_ends_before_its_told_length_is_an_answer_only_if_it_has_its_end(wire: Wire) -> None:
    whole = body_of(wire, "All of it.")

    def lying(body: bytes) -> Handler:
        class Short(Pieces):
            async def __aiter__(self) -> AsyncIterator[bytes]:
                yield body
                raise httpx.RemoteProtocolError("peer closed connection without sending complete message body")

        return lambda _: httpx.Response(200, headers={**SSE, "content-length": "99999"}, stream=Short(()))

    answer, _ = await answered(lying(whole), wire)
    assert answer.content == "All of it."
    error, shown = await failed(lying(whole[: whole.rindex(b"of it.") + 60]), wire)
    assert (type(error).code, error.is_free, shown) == (ProviderUnavailableError.code, False, "All of it.")


async def test_a_block_whose_stop_never_comes_keeps_its_sources_and_its_thinking() -> None:
    thinking = (start(0, {"type": "thinking", "thinking": ""}), delta(0, "thinking_delta", thinking="Hm."))
    cited = (start(1), text(1, "So."), delta(1, "citations_delta", citation=CITED))
    answer, shown = await answered(message(*thinking, *cited, start(2), text(2, " End.")), "messages")
    assert (answer.content, answer.reasoning, shown) == ("So. [1] End.", "Hm.", "So. [1] End.")
    assert [source.url for source in answer.sources] == [CITED["url"]]


async def test_a_block_whose_start_never_comes_keeps_its_text_and_its_sources() -> None:
    frames = (text(4, "So."), delta(4, "citations_delta", citation=CITED), stop(4))
    answer, _ = await answered(message(*frames), "messages")
    assert (answer.content, len(answer.sources)) == ("So. [1]", 1)


async def test_a_block_that_is_stopped_twice_is_numbered_once() -> None:
    frames = (start(0), text(0, "So."), delta(0, "citations_delta", citation=CITED), stop(0), stop(0), stop(7))
    assert (await answered(message(*frames), "messages"))[0].content == "So. [1]"


async def test_two_blocks_with_one_number_are_both_part_of_the_answer_and_of_what_is_sent_back() -> None:
    sent: list[Frame] = []
    frames = (start(0), text(0, "One. "), stop(0), start(0), text(0, "Two. "), stop(0))
    pause = {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}}

    def reply(call: httpx.Request) -> httpx.Response:
        if call.method == "GET":
            return httpx.Response(404)
        sent.append(json.loads(call.content))
        begun = {"type": "message_start", "message": {"id": f"msg_{len(sent)}"}}
        if len(sent) == 1:
            return streamed(begun, *frames, pause, {"type": "message_stop"})
        return streamed(begun, start(0), text(0, "Three."), stop(0), *END)

    answer, _ = await answered(reply, "messages")
    assert answer.content == "One. Two. Three."
    assert [block["text"] for block in sent[1]["messages"][-1]["content"]] == ["One. ", "Two. "]
    assert answer.response_id == "msg_2"  # ids may change; the last one counts


async def test_two_steps_with_one_number_are_both_part_of_the_answer() -> None:
    frames = (step(0), said(0, "One. "), step(0), said(0, "Two."))
    answer, shown = await answered(interaction(*frames), "interactions")
    assert (answer.content, shown) == ("One. Two.", "One. Two.")


async def test_steps_and_blocks_out_of_order_lose_nothing() -> None:
    answer, _ = await answered(interaction(step(2), said(2, "Two."), step(1), said(1, "One. ")), "interactions")
    assert answer.content == "One. Two."
    ended, *rest = END
    frames = (start(1), start(0), text(1, "One. "), text(0, "Two."), stop(0), ended, stop(1), *rest)
    answer, _ = await answered(message(*frames), "messages")
    assert answer.content == "One. Two."


@pytest.mark.parametrize("amount", [-5, 10**30, 10**400, float("nan"), "many", None, True, [1], {}])
async def test_usage_that_cannot_be_true_is_not_kept_and_costs_no_answer(amount: object) -> None:
    taken = dict.fromkeys(("input_tokens", "output_tokens", "cache_read_input_tokens"), amount)
    more = {"output_tokens_details": {"thinking_tokens": amount}, "server_tool_use": {"web_search_requests": amount}}
    answer, _ = await answered(message(start(0), text(0, "So."), stop(0), **taken, **more), "messages")
    assert answer.content == "So."
    assert answer.usage is None or set(answer.usage.data().values()) == {0}
    names = ("total_input_tokens", "total_output_tokens", "total_thought_tokens", "total_cached_tokens")
    usage = {**dict.fromkeys(names, amount), "grounding_tool_count": [{"type": "google_search", "count": amount}]}
    answer, _ = await answered(interaction(step(0), said(0, "So."), usage=usage), "interactions")
    assert (answer.content, answer.usage) == ("So.", None)


async def test_a_run_whose_id_changes_says_that_the_answer_may_be_another() -> None:
    answer, _ = await answered(interaction(step(0), said(0, "So."), id="v1_other"), "interactions")
    assert answer.response_id == "v1_run"
    assert any("the run v1_run answered as v1_other" in notice for notice in answer.notices)


async def test_a_call_of_a_tool_that_nobody_offered_is_not_made_and_the_text_stays() -> None:
    call: Frame = {"type": "tool_use", "id": "toolu_1", "name": "rm", "input": {}}
    frames = (start(0), text(0, "So."), stop(0), start(1, call), stop(1))
    answer, _ = await answered(message(*frames), "messages")
    assert answer.content == "So."
    assert any("wanted to call a tool" in notice for notice in answer.notices)
    only = interaction(step(0, "function_call", name="rm", arguments={}), status="requires_action")
    error, _ = await failed(only, "interactions")
    assert isinstance(error, AnswerIncompleteError)


def sealed() -> Iterator[Frame]:
    yield start(0, {"type": "thinking", "thinking": ""})
    yield from repeat(delta(0, "signature_delta", signature="x" * 2**20), 10)
    yield from (stop(0), start(1), text(1, "So."), stop(1))


async def test_ten_megabytes_of_signature_do_not_cost_the_answer_and_are_not_kept() -> None:
    answer, _ = await answered(message(*sealed()), "messages")
    assert (answer.content, answer.reasoning) == ("So.", None)
    sign: Frame = {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature"}}
    sign["delta"]["signature"] = "x" * 2**20
    frames = (step(0, "thought"), *repeat(sign, 10), step(1), said(1, "So."))
    answer, _ = await answered(interaction(*frames), "interactions")
    assert (answer.content, answer.reasoning) == ("So.", None)


@pytest.mark.parametrize("wire", BOTH)
async def test_one_event_of_ten_megabytes_is_a_failure_that_keeps_what_came_before(wire: Wire) -> None:
    whole = body_of(wire, "So far.")
    cut = whole.index(b"\n\n", whole.index(b"So far.")) + 2
    large = b'data: {"type": "ping", "data": "' + b"x" * 10 * 2**20 + b'"}\n\n'
    error, shown = await failed(sending(whole[:cut], large, whole[cut:]), wire)
    assert "sent too much" in error.message
    assert (error.is_free, shown) == (False, "So far.")


PLACES = [(0, 10**9), (-3, -1), (5, 2), (0, 10**30), (None, None), ("a", "b"), (1, 2), (-(10**30), 3), (0, 1.5e308)]


@pytest.mark.parametrize("place", PLACES)
async def test_a_source_whose_place_is_not_in_the_text_is_listed_without_a_number_in_it(place: tuple[Any, Any]) -> None:
    note = {"type": "url_citation", "url": "https://a.example/", "start_index": place[0], "end_index": place[1]}
    notes: Frame = {"type": "text_annotation_delta", "annotations": [note]}
    answer, _ = await answered(
        interaction(step(0), said(0, "größer"), {"event_type": "step.delta", "index": 0, "delta": notes}),
        "interactions",
    )
    assert answer.content.replace("[1]", "") == "größer"
    assert [source.url for source in answer.sources] == ["https://a.example/"]


@pytest.mark.parametrize("wire", BOTH)
async def test_bytes_that_are_no_text_are_replaced_and_the_rest_stays(wire: Wire) -> None:
    broken = body_of(wire, "good @@ more").replace(b"@@", b"\xff\xfe\xc3")
    answer, _ = await answered(sending(broken), wire)
    assert answer.content.startswith("good \ufffd")
    assert answer.content.endswith(" more")


@pytest.mark.parametrize("wire", BOTH)
async def test_pings_without_end_are_a_failure_that_keeps_what_came_before(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_EVENTS", 5000)
    whole = body_of(wire, "So far.")
    cut = whole.index(b"\n\n", whole.index(b"So far.")) + 2
    ping = b'data: {"type": "ping", "event_type": "ping"}\n\n' * 1000
    error, shown = await failed(sending(whole[:cut], *repeat(ping, 10), whole[cut:]), wire)
    assert "sent too much" in error.message
    assert shown == "So far."


ODD: dict[str, Frame] = {
    "dream": {"index": "x", "delta": [], "content_block": 3, "step": None, "interaction": []},
    "message.dreamt": {"usage": -1},
    "step.dreamt": {"delta": {"type": 7}},
}


@pytest.mark.parametrize("kind", ODD)
async def test_kinds_of_events_that_nobody_knows_change_nothing(kind: str) -> None:
    odd = {"type": kind, **ODD[kind]}
    answer, _ = await answered(message(odd, start(0), text(0, "So."), odd, stop(0)), "messages")
    assert answer.content == "So."
    odd = {"event_type": kind, **ODD[kind]}
    answer, _ = await answered(interaction(odd, step(0), said(0, "So."), odd), "interactions")
    assert answer.content == "So."
