"""What servers say instead of an answer, in a stream that began well or beside it, and how users read that."""

import json
from collections.abc import AsyncIterator

import anyio
import httpx
import pytest
from tests.fixtures.raw_answers import SSE, WIRES, Pieces, Wire, answer_in, answering, asked, provider_at, streamed

from conversation_mcp.errors import ContextTooLargeError, ProviderError
from conversation_mcp.providers.wire.problems import problem_in

OVERFLOW = "the request exceeds the available context size. try increasing the context size or enable context shift"
LLAMA = json.dumps({"code": 400, "message": OVERFLOW, "type": "invalid_request_error"})
LEMONADE = {
    "code": 400,
    "message": "request (19185 tokens) exceeds the available context size (16384 tokens), try increasing it",
    "type": "exceed_context_size_error",
    "n_prompt_tokens": 19185,
    "n_ctx": 16384,
}
BARE = json.dumps({"error": LEMONADE})
TOO_LONG = {
    "a field `error`": f"error: {LLAMA}\n\ndata: [DONE]\n\n",
    "a field `error` at the end": f"error: {LLAMA}",
    "a field `error` in words": f"error: {OVERFLOW}\n\n",
    "bare JSON": BARE,
    "bare JSON with lines": json.dumps({"error": LEMONADE}, indent=2),
    "bare JSON in a list": f"[{BARE}]",
    "bare JSON, then a frame": f"{BARE}\ndata: [DONE]\n\n",
    "bare JSON after a comment": f": processing\n\n{BARE}\n\ndata: [DONE]\n\n",
    "an event `error`": f"event: error\ndata: {LLAMA}\n\n",
    "an event `error` in words": f"event: error\ndata: {OVERFLOW}\n\n",
    "a frame": f"data: {BARE}\n\n",
    "a frame without `error`": f"data: {json.dumps({'object': 'error', **LEMONADE})}\n\n",
    "an event `Error`": f"event: Error\ndata: {OVERFLOW}\n\n",
    "an error as a string": f"data: {json.dumps({'error': OVERFLOW})}\n\n",
    "a list of errors": f"data: {json.dumps({'error': [LEMONADE]})}\n\n",
    "an error in an error": f"data: {json.dumps({'error': {'error': LEMONADE}})}\n\n",
    "an error in a detail": f"data: {json.dumps({'detail': {'error': LEMONADE}})}\n\n",
    "a typed event": f"data: {json.dumps({'type': 'error', 'message': OVERFLOW})}\n\n",
    "behind a gateway": "data: "
    + json.dumps({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": BARE}}})
    + "\n\n",
}


IN_ONE_PIECE = {
    "a frame in JSON's type": (f"data: {BARE}\n\n", "application/json"),
    "a line of several": (f'{BARE}\n{{"done": true}}\n', "application/x-ndjson"),
    "words": (OVERFLOW, "text/plain"),
    "words in a frame": (f"data: {OVERFLOW}\n\ndata: [DONE]\n\n", "text/event-stream"),
    "words in Chinese": (
        json.dumps({"error": {"message": "输入长度超过模型最大上下文长度 (context size)"}}),
        "application/json",
    ),
}


async def failure_of(wire: Wire, text: str, *, status: int = 200, kind: str = "text/event-stream") -> ProviderError:
    response = httpx.Response(status, headers={"content-type": kind}, text=text)
    async with provider_at(lambda _: response, wire) as provider:
        with pytest.raises(ProviderError) as caught:
            await asked(provider)
    return caught.value


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("where", TOO_LONG)
async def test_a_conversation_that_is_too_long_is_told_wherever_the_server_says_so(wire: Wire, where: str) -> None:
    error = await failure_of(wire, TOO_LONG[where])
    assert isinstance(error, ContextTooLargeError)
    assert "context size" in error.message
    assert "may have been billed" not in error.sentence()
    assert error.is_free


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("how", IN_ONE_PIECE)
async def test_it_is_told_in_place_of_a_stream_too(wire: Wire, how: str) -> None:
    text, kind = IN_ONE_PIECE[how]
    error = await failure_of(wire, text, kind=kind)
    assert isinstance(error, ContextTooLargeError)
    assert "context size" in error.message


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("size", [1, 10])
async def test_an_error_between_events_may_be_cut_anywhere(wire: Wire, size: int) -> None:
    data = TOO_LONG["a field `error`"].encode()
    body = Pieces([data[start : start + size] for start in range(0, len(data), size)])
    async with provider_at(lambda _: httpx.Response(200, headers=SSE, stream=body), wire) as provider:
        with pytest.raises(ContextTooLargeError):
            await asked(provider)


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            {"error": {"message": "no such field", "type": "invalid_request_error"}},
            "refused the request: no such field.",
        ),
        ({"error": {"message": "wrong key", "code": "invalid_api_key"}}, "refused the key."),
        ({"error": {"message": "slow down", "type": "rate_limit_error"}}, "accepts no more requests at the moment."),
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, "failed with HTTP 503: Overloaded."),
        ({"error": {"message": "Loading model", "code": 503}}, "failed with HTTP 503: Loading model."),
        ({"object": "error", "message": "no such model", "code": 404}, "(HTTP 404): no such model."),
        ({"detail": "no such field", "status": 422}, "refused the request with HTTP 422: no such field."),
    ],
)
@pytest.mark.parametrize("kind", ["text/event-stream", "application/json", "text/plain"])
async def test_a_refusal_before_the_answer_costs_nothing_and_says_why(
    wire: Wire, body: dict[str, object], sentence: str, kind: str
) -> None:
    text = json.dumps(body) if kind != "text/event-stream" else f"data: {json.dumps(body)}\n\n"
    error = await failure_of(wire, text, kind=kind)
    assert sentence in error.message
    assert "may have been billed" not in error.sentence()
    assert error.is_free


@pytest.mark.parametrize("wire", WIRES)
async def test_a_reason_that_is_not_utf_8_is_read_as_far_as_it_is(wire: Wire) -> None:
    body = b'{"error": {"message": "Gr\xfc\xdfe", "code": 400}}'
    response = httpx.Response(200, headers={"content-type": "application/json"}, content=body)
    async with provider_at(lambda _: response, wire) as provider:
        with pytest.raises(ProviderError, match="refused the request: Gr\ufffd\ufffde"):
            await asked(provider)


DIED = {
    "an event `error`": 'event: error\ndata: {"message": "engine died", "code": 500}\n\n',
    "a field `error`": 'error: {"message": "engine died"}\n\n',
    "beside the choices": 'data: {"choices": [{"delta": {}, "finish_reason": "error"}], "x_groq": {"error": "engine died"}}\n\n',
}


@pytest.mark.parametrize("where", DIED)
async def test_a_failure_within_an_answer_says_why_and_may_have_been_billed(where: str) -> None:
    begun = answering("chat_completions", ["Half"])(httpx.Request("POST", "http://peer.example")).text
    error = await failure_of("chat_completions", begun.partition("\n\n")[0] + "\n\n" + DIED[where])
    assert "could not finish the answer: engine died." in error.message
    assert "may have been billed" in error.sentence()


async def test_a_run_that_failed_because_of_its_length_says_so() -> None:
    failed = {"status": "failed", "error": {"code": "context_length_exceeded", "message": "Your input is too long."}}
    async with provider_at(lambda _: streamed({"type": "response.failed", "response": failed}), "responses") as peer:
        with pytest.raises(ContextTooLargeError):
            await asked(peer)


OVERFLOWS = {
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the messages, "
    "1000 in the completion). Please reduce the length of the messages or completion.": "(5,000 tokens; limit 4,096)",
    "prompt is too long: 233153 tokens > 200000 maximum": "(233,153 tokens; limit 200,000)",
    "Input is too long for requested model.": "accepts: ",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).": "(1,200,000 tokens;",
    "Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a total of 202941 "
    "tokens: 170941 tokens from the input messages and 32000 tokens for the completion.": "(202,941 tokens;",
    "Input length 877338 exceeds the maximum allowed input length of 639968 tokens": "(877,338 tokens;",
    "Prompt too long: 5152 tokens exceeds max_seq_len 2048 (leave room for output tokens)": "(5,152 tokens;",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length "
    "of only 4096 tokens, which is not enough.": "(5,000 tokens; limit 4,096)",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length": "(40,000",
    "Your input exceeds the context window of this model.": "accepts: ",
    "Input validation error: `inputs` must have less than 4095 tokens. Given: 5000": "(5,000 tokens; limit 4,095)",
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length": "accepts: ",
    "The prompt has 9,000 tokens, more than the 8,192 of this model": "(9,000 tokens; limit 8,192)",
    "Your request exceeded model token limit: 131072 (requested: 140000)": "(140,000 tokens; limit 131,072)",
    "prompt tokens (9000) + max tokens > n_ctx 8192": "(9,000 tokens; limit 8,192)",
    "too many tokens: total tokens exceed model limit of 4096": "accepts: ",
    "Token limit exceeded: 5000 > 4096": "(5,000 tokens; limit 4,096)",
    "litellm.ContextWindowExceededError: no room": "accepts: ",
    "Invalid 'messages[1].content': string too long. Expected a string with maximum length 1048576": "accepts: ",
}


@pytest.mark.parametrize("message", OVERFLOWS)
async def test_a_conversation_that_is_too_long_is_recognised_by_what_is_said_of_it(message: str) -> None:
    body = json.dumps({"error": {"message": message}})
    error = await failure_of("chat_completions", body, status=400, kind="application/json")
    assert isinstance(error, ContextTooLargeError)
    assert OVERFLOWS[message] in error.message


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens must be less than or equal to 4096",
        "max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you gave 32000.",
        "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 30.",
        "Rate limit reached for requests: limit 30000 tokens per min",
        "Budget has been exceeded! Current cost: 10.1, Max budget: 10.0",
        "tools: too many tools (max 128), request rejected, reduce its size",
        "messages: roles must alternate",
        "The prompt must be longer than 1 token",
        "The request was rejected because of too many tokens in the system's queue",
        "Too many tokens, please wait before trying again.",
        "metadata: maximum length of values is 512 characters in request",
        "Your request was flagged: too many special tokens",
        "model requires more system memory (9 GB) than is available for this request",
        "Image size exceeds the maximum of this request",
        "Request timed out: it took longer than the maximum of 60 seconds at this size",
        "This model only supports 1 system message at most",
        "you must provide a model parameter",
    ],
)
def test_what_else_is_refused_is_not_taken_for_it(message: str) -> None:
    problem = problem_in({"error": {"message": message}}, 400)
    assert problem
    assert problem.overflow is None


class Unended(Pieces):
    """A body whose end never comes."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in super().__aiter__():
            yield piece
        await anyio.sleep_forever()


@pytest.mark.parametrize("wire", WIRES)
async def test_a_whole_answer_is_there_although_its_response_never_ends(wire: Wire) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        if request.method != "POST":  # what is looked up beside the answer
            return httpx.Response(404)
        body = answering(wire, ["Yes."])(request).content
        return httpx.Response(200, headers=SSE, stream=Unended([body, b"data: [DONE]\n\n"]))

    async with provider_at(handle, wire) as provider:
        with anyio.fail_after(10):
            assert answer_in(await asked(provider)).content == "Yes."
