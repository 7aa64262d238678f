"""What a user reads when a server of the chat completions family gives no answer, and what it may have cost."""

import json

import anyio
import httpx
import pytest
from tests.fixtures.chat_client import Chatting, chatting
from tests.fixtures.chat_rules import KEY

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ConversationMCPError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from conversation_mcp.providers.base import Event, TextDelta
from conversation_mcp.tooling.steps import COMMANDS


async def failure(chat: Chatting, question: str) -> tuple[ConversationMCPError, list[Event]]:
    seen: list[Event] = []

    async def consume() -> None:
        async for event in chat.provider.ask(chat.request(question)):
            seen.append(event)  # noqa: PERF401 -- what came before the error counts

    with pytest.raises(ConversationMCPError) as caught:
        await consume()
    sentence = caught.value.sentence()
    assert not any(sign in sentence for sign in ("<", "Traceback", KEY, "secret")), sentence
    return caught.value, seen


REFUSED = {
    "400": "PROVIDER_REJECTED: NAME refused the request: validation failed: something is wrong with it.",
    "401": "PROVIDER_AUTH: NAME refused the key. Set KEY to a key from its API console; `conversation-mcp doctor` shows where the key came from.",
    "402": "PROVIDER_QUOTA: the NAME account is out of credit. Nothing was billed for this call. Add credit, then ask again.",
    "403": "PROVIDER_REJECTED: NAME refused the request with HTTP 403: this key is blocked.",
    "404": "PROVIDER_REJECTED: NAME has nothing at this address (HTTP 404): resource not found. Check ADDRESS and the model.",
    "410": "PROVIDER_REJECTED: NAME no longer has what was asked for (HTTP 410): this feature was removed. Choose another model, or get a newer conversation-mcp.",
    "413": "CONTEXT_TOO_LARGE: this conversation is larger than NAME accepts. Nothing was billed for this call. Start a new conversation.",
    "429_long": "PROVIDER_RATE_LIMITED: NAME accepts no more requests at the moment. Nothing was billed for this call. Ask again in 3600 s.",
    "500": "PROVIDER_UNAVAILABLE: NAME failed with HTTP 500: internal error. The call may have been billed and was not repeated. Ask again to try once more.",
    "502_html": "PROVIDER_UNAVAILABLE: NAME failed with HTTP 502. The call may have been billed and was not repeated. Ask again to try once more.",
}


@pytest.mark.parametrize("name", ["openrouter", "gemini", "mistral", "custom"])
async def test_a_refusal_is_explained_whatever_shape_it_comes_in(name: str) -> None:
    async with chatting(name) as chat:
        told = {fault: (await failure(chat, f"Why? [[fault:{fault}]]"))[0].sentence(COMMANDS) for fault in REFUSED}
    definition = chat.provider.configured.definition
    names = {definition.title: "NAME", definition.key_variable: "KEY", definition.base_url_name: "ADDRESS"}
    for known, shown in names.items():
        told = {fault: text.replace(known, shown) for fault, text in told.items()}
    assert told == REFUSED
    assert len(chat.server.requests) == len(REFUSED)


WITH_200 = {
    "error_200": "PROVIDER_QUOTA: the Custom account is out of credit. Nothing was billed for this call. Add credit, then ask again.",
    "string_200": "PROVIDER_REJECTED: Custom has nothing at this address (HTTP 404): Unexpected endpoint or method. (POST /v1/chat/completions). Check CUSTOM_API_URL and the model.",
    "error_first": "PROVIDER_RATE_LIMITED: Custom accepts no more requests at the moment. Nothing was billed for this call. Ask again in 60 s.",
    "html_200": "PROVIDER_UNAVAILABLE: Custom answered with something other than a stream. The call may have been billed and was not repeated. Ask again to try once more.",
}


@pytest.mark.parametrize("fault", WITH_200)
async def test_a_failure_under_http_200_is_one(fault: str) -> None:
    async with chatting() as chat:
        error, _ = await failure(chat, f"Why? [[fault:{fault}]]")
    assert error.sentence() == WITH_200[fault]
    assert len(chat.server.requests) == 1


BROKEN = {
    "early_eof": "PROVIDER_UNAVAILABLE: Custom broke off before the answer was complete. The call may have been billed and was not repeated. Ask again to try once more.",
    "dropped": "PROVIDER_UNAVAILABLE: the connection to Custom broke before the answer was complete. The call may have been billed and was not repeated. Ask again to try once more.",
    "dropped_before": "PROVIDER_UNAVAILABLE: the connection to Custom broke before the answer was complete. The call may have been billed and was not repeated. Ask again to try once more.",
    "malformed": "PROVIDER_UNAVAILABLE: Custom sent an event that is not valid JSON. The call may have been billed and was not repeated. Ask again to try once more.",
    "error_frame": "PROVIDER_UNAVAILABLE: Custom could not finish the answer: the upstream model broke down. The call may have been billed and was not repeated. Ask again to try once more.",
    "error_finish": "PROVIDER_UNAVAILABLE: Custom could not finish the answer. The call may have been billed and was not repeated. Ask again to try once more.",
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_stream_that_breaks_is_no_answer_may_be_billed_and_is_not_repeated(fault: str) -> None:
    async with chatting() as chat:
        error, seen = await failure(chat, f"Why? [[fault:{fault}]]")
    assert error.sentence() == BROKEN[fault]
    assert isinstance(error, ProviderUnavailableError)
    assert error.maybe_billed
    assert any(isinstance(event, TextDelta) for event in seen) is (fault != "dropped_before")
    assert len(chat.server.requests) == 1


@pytest.mark.parametrize("fault", ["silent", "silent_mid"])
async def test_silence_ends_the_wait_and_the_call_is_not_repeated(fault: str) -> None:
    async with chatting(timeouts={"silence_seconds": 0.2}) as chat:
        error, _ = await failure(chat, f"Why? [[fault:{fault}]]")
    assert isinstance(error, ProviderTimeoutError)
    assert len(chat.server.requests) == 1


TEXTLESS = {
    "empty": "ANSWER_INCOMPLETE: OpenRouter answered without any text (billed $0.0042). Ask again, or ask a narrower question.",
    "refusal": "ANSWER_INCOMPLETE: OpenRouter refused to answer: I cannot help with that (billed $0.0042). Ask again, or ask a narrower question.",
    "filtered": "ANSWER_INCOMPLETE: the content filter of OpenRouter withheld the answer (billed $0.0042). Ask again, or ask a narrower question.",
    "tool_only": "ANSWER_INCOMPLETE: OpenRouter wanted to call a tool and wrote no text (billed $0.0042). Ask again, or ask a narrower question.",
    "cut_empty": "ANSWER_INCOMPLETE: OpenRouter reached its token limit before it wrote any text (billed $0.0042). Ask again, or ask a narrower question.",
}


@pytest.mark.parametrize("fault", TEXTLESS)
async def test_an_answer_without_text_says_why_and_keeps_what_it_took(fault: str) -> None:  # defect 13
    async with chatting("openrouter") as chat:
        error, _ = await failure(chat, f"Why? [[fault:{fault}]]")
    assert error.sentence() == TEXTLESS[fault]
    assert isinstance(error, AnswerIncompleteError)
    assert error.usage == {"inputTokens": 10, "outputTokens": 5, "reasoningTokens": 2, "costUsd": 0.0042}


LEARNT = {
    "no_stream_options": (
        "NAME was asked again without stream_options, which it refused; nothing was billed for the first try.",
    ),
    "no_max_tokens": (
        "NAME was asked again with max_completion_tokens in place of max_tokens; nothing was billed for the first try.",
    ),
    "no_effort": (
        "NAME was asked again without reasoning_effort, which it refused; nothing was billed for the first try.",
        "reasoning_effort was left out; small-1 refuses it.",
    ),
}


@pytest.mark.parametrize("fault", LEARNT)
async def test_a_refused_field_is_left_out_once_and_for_all(fault: str) -> None:
    async with chatting(title="NAME", quirks={"output_limit_tokens": 100}) as chat:
        first = await chat.answer(f"Why? [[fault:{fault}]]", reasoning_effort="high")
        again = await chat.answer(f"Why? [[fault:{fault}]]", reasoning_effort="high")
    assert first.notices + again.notices == LEARNT[fault]
    assert len(chat.server.requests) == 3
    assert len(chat.server.paid) == 2
    assert chat.server.requests[1] == chat.server.requests[2]


async def test_the_name_of_the_limit_is_learnt_for_the_model_that_refused_it() -> None:
    async with chatting(quirks={"output_limit_tokens": 100}) as chat:
        await chat.answer("Why? [[fault:no_max_tokens]]", model="o-1")
        await chat.answer("Why?", model="o-1")
        await chat.answer("Why?", model="small-1")
    names = [(body["model"], "max_tokens" in body, "max_completion_tokens" in body) for body in chat.server.requests]
    assert names == [("o-1", True, False), ("o-1", False, True), ("o-1", False, True), ("small-1", True, False)]


async def test_what_one_question_learns_helps_another_that_is_under_way() -> None:
    both = anyio.Event()
    bodies: list[dict[str, object]] = []

    async def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        bodies.append(body)
        if len(bodies) == 2:
            both.set()
        await both.wait()
        if "max_tokens" in body:
            return httpx.Response(400, json={"error": {"message": "Use 'max_completion_tokens', not 'max_tokens'."}})
        return httpx.Response(200, json={"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]})

    async with (
        chatting(transport=httpx.MockTransport(answer), quirks={"output_limit_tokens": 9}) as chat,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(chat.answer, "One?")
        tasks.start_soon(chat.answer, "Two?")
    assert ["max_tokens" in body for body in bodies] == [True, True, False, False]


async def test_a_limit_is_sent_only_where_it_is_set_or_insisted_on() -> None:
    async with chatting() as chat:
        answer = await chat.answer("Why? [[fault:needs_limit]]")
    assert [body.get("max_tokens") for body in chat.server.requests] == [None, 8192]
    assert answer.notices == (
        "Custom was asked again with max_tokens 8,192, because it insists on a limit; nothing was billed for the first try.",
    )


async def test_all_fields_may_be_refused_one_after_the_other_and_each_is_met_once() -> None:
    refused = {"stream_options", "max_tokens", "reasoning_effort"}
    bodies: list[set[str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        bodies.append(set(body))
        for name in sorted(refused & set(body)):
            return httpx.Response(
                422, json={"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"}]}
            )
        choice = {"message": {"content": "yes"}, "finish_reason": "stop"}
        return httpx.Response(200, json={"choices": [choice]})

    async with chatting(transport=httpx.MockTransport(answer), quirks={"output_limit_tokens": 9}) as chat:
        assert (await chat.answer("Why?", reasoning_effort="low")).content == "yes"
    assert len(bodies) == 4
    assert bodies[-1] == {"model", "messages", "stream", "max_completion_tokens"}


async def test_a_refusal_is_understood_that_is_a_list_inside_a_text() -> None:
    async with chatting("mistral", quirks={"stream_usage": True}) as chat:
        answer = await chat.answer("Why?")
    assert answer.notices == (LEARNT["no_stream_options"][0].replace("NAME", "Mistral"),)


async def test_what_a_refusal_does_not_name_is_not_tried_in_another_way() -> None:
    async with chatting(quirks={"output_limit_tokens": 100}) as chat:
        error, _ = await failure(chat, "Why? [[fault:400]]")
    assert isinstance(error, ProviderError)
    assert len(chat.server.requests) == 1


async def test_a_rate_limit_is_waited_for_and_a_refused_connection_is_tried_three_times() -> None:
    async with chatting() as chat:
        answer = await chat.answer("Why? [[fault:429_seconds:1]]")
    assert (chat.time.sleeps, len(chat.server.paid)) == ([7], 1)
    assert answer.notices == (
        "The provider was asked again 1 time after being rate limited; nothing was billed for that.",
    )
    tries: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        tries.append(request)
        message = "connection refused"
        raise httpx.ConnectError(message)

    async with chatting(transport=httpx.MockTransport(refuse)) as chat:
        error, _ = await failure(chat, "Why?")
    assert len(tries) == 3
    assert (
        error.sentence()
        == "PROVIDER_UNAVAILABLE: Custom cannot be reached: connection refused. Nothing was billed. Ask again in a while."
    )
