"""Bugs that users of other programs reported about the wires of Claude and Gemini, as they would be seen here."""

import json

import httpx
import pytest
from tests.fixtures.raw_answers import Wire, answer_in, asked, provider_at, streamed

from conversation_mcp.errors import ProviderError, ProviderRateLimitedError, ProviderUnavailableError

BOTH: tuple[Wire, ...] = ("messages", "interactions")


async def failure(reply: httpx.Response, wire: Wire) -> tuple[ProviderError, int]:
    """Return the failure, and how many questions were sent."""
    questions: list[httpx.Request] = []

    def serve(sent: httpx.Request) -> httpx.Response:
        if sent.method == "GET":
            return httpx.Response(404)
        questions.append(sent)
        return reply

    async with provider_at(serve, wire) as provider:
        with pytest.raises(ProviderError) as caught:
            await asked(provider)
    return caught.value, len(questions)


@pytest.mark.parametrize("wire", BOTH)
async def test_an_error_in_a_list_is_read_although_a_stream_was_asked_for(wire: Wire) -> None:
    told = [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow down."}}]
    for status in (200, 429):
        error, _ = await failure(httpx.Response(status, json=told), wire)
        assert isinstance(error, ProviderRateLimitedError)


@pytest.mark.parametrize("wire", BOTH)
async def test_a_malformed_call_of_a_function_is_told_and_the_paid_question_is_not_sent_again(wire: Wire) -> None:
    run = {"id": "v1_a", "status": "failed", "errors": [{"code": "MALFORMED_FUNCTION_CALL", "message": "no call"}]}
    message: dict[str, object] = {
        "type": "message",
        "id": "msg_1",
        "content": [],
        "stop_reason": "MALFORMED_FUNCTION_CALL",
    }
    reply = (
        httpx.Response(200, json=message)
        if wire == "messages"
        else streamed({"event_type": "interaction.completed", "interaction": run})
    )
    error, questions = await failure(reply, wire)
    assert (error.is_free, questions) == (False, 1)


async def test_events_without_content_do_not_end_an_answer_of_gemini() -> None:
    bare = [{"event_type": kind} for kind in ("interaction.created", "step.start", "step.delta", "step.stop")]
    said = {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "So."}}
    done = {"event_type": "interaction.completed", "interaction": {"status": "completed"}}
    async with provider_at(lambda _: streamed(*bare, said, done), "interactions") as provider:
        assert answer_in(await asked(provider)).content == "So."


async def test_events_without_content_do_not_end_an_answer_of_claude() -> None:
    kinds = ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta")
    said = {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "So."}}
    frames = [*({"type": kind} for kind in kinds), said, {"type": "message_stop"}]
    async with provider_at(lambda _: streamed(*frames), "messages") as provider:
        assert answer_in(await asked(provider)).content == "So."


async def test_an_overload_that_comes_with_a_status_of_success_is_told_as_one() -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    error, questions = await failure(httpx.Response(200, json=overloaded), "messages")
    assert isinstance(error, ProviderUnavailableError)
    assert ("Overloaded" in error.message, questions) == (True, 1)


async def test_no_thinking_and_no_temperature_is_sent_to_a_model_whose_abilities_are_unknown() -> None:
    sent: list[httpx.Request] = []

    def serve(call: httpx.Request) -> httpx.Response:
        sent.append(call)
        return httpx.Response(404 if call.method == "GET" else 400, json={"error": {"message": "no"}})

    async with provider_at(serve, "messages") as provider:
        with pytest.raises(ProviderError):
            await asked(provider)
    body = json.loads(sent[-1].content)
    assert not {"thinking", "temperature", "top_p", "top_k", "output_config"} & set(body)
