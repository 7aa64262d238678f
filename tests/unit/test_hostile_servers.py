"""Servers that write the key into their errors, never stop sending, or report what cannot be."""

from collections.abc import AsyncIterator, Iterable

import anyio
import httpx
import pytest
from tests.fixtures.asked import answer_of
from tests.fixtures.families import FAMILIES, Family
from tests.fixtures.raw_answers import Handler, asked, provider_at, streamed

from conversation_mcp.errors import ConversationMCPError, ProviderError, ProviderTimeoutError
from conversation_mcp.providers.base import ModelLister
from conversation_mcp.providers.wire.json_values import JsonObject
from conversation_mcp.providers.wire.usage import usage
from conversation_mcp.records.usage import Usage

KEY = 'my/own"secret\\key'
ALL: tuple[Family, ...] = (*FAMILIES, "interactions")


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in text)


ERROR = {"error": {"message": f"the key {KEY} is wrong"}}
LONG = {"error": {"message": f"{'x ' * 95}{KEY}"}}
CHAT_PIECE = {"choices": [{"delta": {"content": "part"}}]}
TEXT_PIECE = {"type": "response.output_text.delta", "delta": "part"}
REFUSED = {"type": "message", "content": [{"type": "refusal", "refusal": f"not with {KEY}"}]}
ECHOES: dict[str, tuple[Iterable[Family], Handler]] = {
    "status": (ALL, lambda _: httpx.Response(400, json=ERROR)),
    "cut": (ALL, lambda _: httpx.Response(400, json=LONG)),
    "escaped": (ALL, lambda _: httpx.Response(403, text=f'{{"error": "key {escaped(KEY)}"}}')),
    "success": (ALL, lambda _: httpx.Response(200, json=ERROR)),
    "first frame": (ALL, lambda _: streamed(ERROR)),
    "later frame": (["chat_completions"], lambda _: streamed(CHAT_PIECE, ERROR)),
    "choice": (["chat_completions"], lambda _: streamed({"choices": [ERROR]})),
    "refusal": (
        ["chat_completions"],
        lambda _: streamed({"choices": [{"delta": {"refusal": KEY}, "finish_reason": "stop"}]}),
    ),
    "later event": (["responses"], lambda _: streamed(TEXT_PIECE, ERROR)),
    "error event": (["responses"], lambda _: streamed({"type": "error", "message": KEY})),
    "failed run": (
        ["responses"],
        lambda _: streamed({"type": "response.failed", "response": {"status": "failed", **ERROR}}),
    ),
    "refused run": (
        ["responses"],
        lambda _: streamed({"type": "response.completed", "response": {"status": "completed", "output": [REFUSED]}}),
    ),
}


@pytest.mark.parametrize(
    ("family", "handler"),
    [
        pytest.param(family, handler, id=f"{family} {name}")
        for name, (families, handler) in ECHOES.items()
        for family in families
    ],
)
async def test_no_error_has_the_key_in_it_wherever_the_server_writes_it(family: Family, handler: Handler) -> None:
    async with provider_at(handler, family, KEY) as provider:
        with pytest.raises(ProviderError) as caught:
            await asked(provider)
    assert "own" not in caught.value.sentence()
    assert "[redacted]" in caught.value.sentence()


@pytest.mark.parametrize(
    "look",
    [httpx.Response(200, json={"status": "failed", **ERROR}), httpx.Response(403, json=ERROR)],
    ids=["failed", "refused"],
)
async def test_no_look_at_a_run_shows_the_key(look: httpx.Response) -> None:
    def handler(asked_for: httpx.Request) -> httpx.Response:
        return look if asked_for.method == "GET" else httpx.Response(200, json={"id": "resp_1", "status": "queued"})

    async with provider_at(handler, "responses", KEY) as provider:
        with pytest.raises(ProviderError) as followed:
            await asked(provider, "deep_research")
        with pytest.raises(ProviderError) as fetched:
            await provider.fetch("resp_1")
    assert "[redacted]" in followed.value.message
    assert "[redacted]" in fetched.value.message


class Endless(httpx.AsyncByteStream):
    """A body of many gigabytes; `sent` is how many pieces were taken from it."""

    def __init__(self, piece: bytes) -> None:
        self.piece = piece * (2**20 // len(piece))
        self.sent = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while self.sent < 2**14:
            self.sent += 1
            yield self.piece
        raise AssertionError


ENDLESS = {"json": ("application/json", b" "), "stream": ("text/event-stream", b": " + b"x" * 2**16 + b"\n")}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("family", ALL)
async def test_an_answer_without_an_end_is_given_up_before_it_fills_the_memory(family: Family, kind: str) -> None:
    name, piece = ENDLESS[kind]
    body = Endless(piece)
    async with provider_at(
        lambda _: httpx.Response(200, headers={"content-type": name}, stream=body), family, KEY
    ) as peer:
        with pytest.raises(ProviderError, match="sent too much") as caught:
            await asked(peer)
    assert not caught.value.is_free
    assert body.sent < 200


@pytest.mark.parametrize("what", ["create", "look", "models"])
async def test_neither_runs_nor_lists_of_models_fill_the_memory(what: str) -> None:
    body = Endless(b" ")
    async with provider_at(lambda _: httpx.Response(200, stream=body), "responses", KEY) as provider:
        assert isinstance(provider, ModelLister)
        calls = {
            "create": lambda: asked(provider, "deep_research"),
            "look": lambda: provider.fetch("resp_1"),
            "models": provider.list_models,
        }
        with pytest.raises(ConversationMCPError):
            await calls[what]()
    assert body.sent < 200


class Silent(httpx.AsyncByteStream):
    """A body that never comes."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        await anyio.sleep_forever()
        yield b""


@pytest.mark.parametrize("family", ALL)
async def test_a_server_has_as_long_to_list_its_models_as_whoever_asks_will_wait(family: Family) -> None:
    async with provider_at(lambda _: httpx.Response(200, stream=Silent()), family, KEY) as provider:
        assert isinstance(provider, ModelLister)
        with pytest.raises(ProviderTimeoutError, match="list its models within 0 s"):
            await provider.list_models(0)


BUSY = {"error": {"code": 429, "message": "slow down"}}
CITED = {"type": "url_citation", "url_citation": {"url": "https://a.example"}}


@pytest.mark.parametrize(
    ("delta", "is_free"),
    [
        ({"role": "assistant", "content": ""}, True),
        ({"content": "part"}, False),
        ({"reasoning": "hm"}, False),
        ({"refusal": "no"}, False),
        ({"tool_calls": [{"index": 0}]}, False),
        ({"annotations": [CITED]}, False),
    ],
)
async def test_a_refusal_is_free_only_while_nothing_was_done(delta: JsonObject, is_free: bool) -> None:
    def handler(_: httpx.Request) -> httpx.Response:
        return streamed({"choices": [{"delta": delta}]}, BUSY)

    async with provider_at(handler, "chat_completions", KEY) as provider:
        with pytest.raises(ProviderError) as caught:
            await asked(provider)
    assert caught.value.is_free is is_free


def test_what_cannot_have_been_charged_is_not_counted() -> None:
    told = {"cost": -1000, "prompt_tokens": -5, "completion_tokens": 3}
    assert usage({"usage": told}) == Usage(output_tokens=3)
    assert usage({"usage": {**told, "cost_in_usd_ticks": 10**10}}) == Usage(output_tokens=3, cost_usd=1.0)


@pytest.mark.parametrize("family", ALL)
async def test_names_that_a_server_gives_are_short_and_on_one_line(family: Family) -> None:
    odd = {"id": "i" * 10**6, "model": "a\n\x1b[31mb\u202e" + "c" * 10**6}
    chat = {**odd, "choices": [{"message": {"content": "Yes."}}]}
    part = {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}
    run = {**odd, "object": "response", "status": "completed", "output": [part]}
    said = {"type": "message", "content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn"}
    step = {"type": "model_output", "content": [{"type": "text", "text": "Yes."}]}
    found = {**odd, "status": "completed", "steps": [step]}
    whole = {"responses": run, "chat_completions": chat, "messages": {**odd, **said}, "interactions": found}[family]
    async with provider_at(lambda _: httpx.Response(200, json=whole), family, KEY) as provider:
        answer = answer_of(await asked(provider))
    assert answer.model is not None
    assert answer.model.startswith("a [31mb ccc")
    assert len(answer.model) <= 200
    assert len(answer.response_id or "") <= 200
