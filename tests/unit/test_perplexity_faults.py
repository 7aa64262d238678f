"""What a user reads when the provider gives no answer, and whether it may have cost something."""

import httpx
import pytest
from tests.fixtures.agent import KEY
from tests.fixtures.agent_client import Asking, asking
from tests.fixtures.asked import request

from conversation_mcp.errors import (
    MAYBE_BILLED,
    AnswerIncompleteError,
    ContextTooLargeError,
    ConversationMCPError,
    InvalidInputError,
    ProviderAuthError,
    ProviderError,
    ProviderQuotaError,
    ProviderRateLimitedError,
    ProviderRejectedError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    RunCancelledError,
    StreamBrokenError,
)
from conversation_mcp.providers.base import Event, Started, TextDelta
from conversation_mcp.text import dollars
from conversation_mcp.tooling.steps import COMMANDS

FREE = "Nothing was billed for this call."
CHECK = "Check PERPLEXITY_BASE_URL and the model."
SET_KEY = (
    "Set PERPLEXITY_API_KEY to a key from its API console; `conversation-mcp doctor` shows where the key came from."
)
RETIRED = (
    "Perplexity retired this endpoint on 2026-09-27; PERPLEXITY_BASE_URL points at an old gateway. "
    "Unset it or use https://api.perplexity.ai."
)
USAGE = {"inputTokens": 100, "outputTokens": 13, "reasoningTokens": 3, "costUsd": 0.0031}


async def error_of(asked: Asking, question: str) -> tuple[ConversationMCPError, list[Event]]:
    seen: list[Event] = []

    async def consume() -> None:
        async for event in asked.provider.ask(request(question)):
            seen.append(event)  # noqa: PERF401 -- what came before the error counts

    with pytest.raises(ConversationMCPError) as caught:
        await consume()
    sentence = caught.value.sentence()
    assert not any(sign in sentence for sign in ("<", "pplx-", "Traceback", KEY)), sentence
    return caught.value, seen


HTTP_ERRORS: list[tuple[str, type[ConversationMCPError], str]] = [
    ("400", ProviderRejectedError, "Perplexity refused the request: validation failed: something is wrong with it."),
    ("401", ProviderAuthError, f"Perplexity refused the key. {SET_KEY}"),
    ("401_quota", ProviderQuotaError, f"the Perplexity account is out of credit. {FREE} Add credit, then ask again."),
    ("402", ProviderQuotaError, f"the Perplexity account is out of credit. {FREE} Add credit, then ask again."),
    ("403", ProviderRejectedError, "Perplexity refused the request with HTTP 403: this key is blocked."),
    ("403_retired", ProviderRejectedError, RETIRED),
    ("404", ProviderRejectedError, f"Perplexity has nothing at this address (HTTP 404): resource not found. {CHECK}"),
    (
        "413",
        ContextTooLargeError,
        f"this conversation is larger than Perplexity accepts. {FREE} Start a new conversation.",
    ),
    ("500", ProviderUnavailableError, f"Perplexity failed with HTTP 500: internal error. {MAYBE_BILLED}"),
    ("502_html", ProviderUnavailableError, f"Perplexity failed with HTTP 502. {MAYBE_BILLED}"),
]


@pytest.mark.parametrize(("fault", "kind", "sentence"), HTTP_ERRORS)
async def test_an_http_error_becomes_one_sentence_and_is_not_repeated(
    fault: str, kind: type[ConversationMCPError], sentence: str
) -> None:
    async with asking() as asked:
        error, seen = await error_of(asked, f"Why? [[fault:{fault}]]")
        assert (type(error), error.sentence(COMMANDS), seen) == (kind, f"{kind.code}: {sentence}", [])
        assert asked.agent.creates == 1
        assert (await asked.answer("And now?")).content == "answer 1 to: And now?[1]"


@pytest.mark.parametrize(
    ("fault", "kind", "sentence", "usage", "partial"),
    [
        (
            "failed",
            ProviderUnavailableError,
            "Perplexity could not finish the answer: the model broke down.",
            USAGE,
            True,
        ),
        (
            "failed_early",
            ProviderUnavailableError,
            "Perplexity could not finish the answer: the model broke down.",
            USAGE,
            False,
        ),
        ("error", ProviderUnavailableError, "Perplexity could not finish the answer: the model broke down.", {}, True),
        ("cancelled", RunCancelledError, "the Perplexity run was cancelled.", {}, True),
        (
            "early_eof",
            StreamBrokenError,
            "Perplexity broke off before the answer was complete.",
            {},
            True,
        ),
        (
            "dropped",
            StreamBrokenError,
            "the connection to Perplexity broke before the answer was complete.",
            {},
            True,
        ),
        ("malformed", StreamBrokenError, "Perplexity sent an event that is not valid JSON.", {}, True),
        (
            "incomplete_empty",
            AnswerIncompleteError,
            "Perplexity stopped before it wrote any text: max_output_tokens (billed $0.0031).",
            USAGE,
            False,
        ),
        ("empty", AnswerIncompleteError, "Perplexity answered without any text (billed $0.0031).", USAGE, False),
        (
            "refusal",
            AnswerIncompleteError,
            "Perplexity refused to answer: I cannot help with that (billed $0.0031).",
            USAGE,
            False,
        ),
    ],
)
async def test_a_stream_without_an_answer_says_what_it_was_and_what_it_cost(
    fault: str, kind: type[ProviderError], sentence: str, usage: dict[str, float], partial: bool
) -> None:
    async with asking() as asked:
        error, seen = await error_of(asked, f"Why? [[fault:{fault}]]")
        assert isinstance(error, ProviderError)
        assert (type(error), error.message, error.usage) == (kind, sentence, usage)
        assert isinstance(seen[0], Started)
        assert any(isinstance(event, TextDelta) for event in seen) is partial
        assert getattr(error, "maybe_billed", True)
        assert error.ends_run is (kind is not StreamBrokenError)
        assert asked.agent.creates == 1


@pytest.mark.parametrize("fault", ["html_200", "dropped_before"])
async def test_what_is_no_stream_may_have_been_billed(fault: str) -> None:
    async with asking() as asked:
        error, seen = await error_of(asked, f"Why? [[fault:{fault}]]")
        assert isinstance(error, ProviderUnavailableError)
        assert (error.maybe_billed, seen, asked.agent.creates) == (True, [], 1)


async def test_an_answer_that_comes_in_one_piece_is_taken() -> None:
    async with asking() as asked:
        assert (await asked.answer("Why? [[fault:json_200]]")).content == "answer 1 to: Why?[1]"


@pytest.mark.parametrize("fault", ["429_long", "429_seconds", "429_ms", "429_date", "429_bare"])
async def test_a_limit_that_stays_is_told_with_its_wait(fault: str) -> None:
    async with asking() as asked:
        error, _ = await error_of(asked, f"Why? [[fault:{fault}]]")
        assert isinstance(error, ProviderRateLimitedError)
        told = {"429_long": 3600, "429_seconds": 7, "429_ms": 1.5, "429_date": 5, "429_bare": None}
        assert error.retry_after_seconds == told[fault]
        waits = {"429_long": [], "429_seconds": [7, 7], "429_ms": [1.5, 1.5], "429_date": [5, 5], "429_bare": [1, 2]}
        assert asked.time.sleeps == waits[fault]
        assert asked.agent.paid == []


async def test_a_refused_connection_was_not_billed() -> None:
    async with asking(base_url="http://127.0.0.1:9") as asked:
        error, _ = await error_of(asked, "Why?")
        assert error.message == "Perplexity cannot be reached: All connection attempts failed."
        assert error.next_step() == "Nothing was billed. Ask again in a while."
        assert asked.time.sleeps == [1, 2]


async def test_silence_is_a_timeout_that_may_have_been_billed() -> None:
    async with asking(timeouts={"silence_seconds": 0.2}) as asked:
        for question in ("Why? [[fault:silent]]", "Why? [[hold]]"):
            error, _ = await error_of(asked, question)
            assert isinstance(error, ProviderTimeoutError)
            assert "may have been billed" in error.sentence()
        assert asked.agent.creates == 2


async def test_an_answer_that_takes_too_long_altogether_is_a_timeout() -> None:
    async with asking(timeouts={"answer_seconds": 0.2}) as asked:
        error, seen = await error_of(asked, "Why? [[hold]]")
        assert (type(error), isinstance(seen[0], Started)) == (ProviderTimeoutError, True)
        assert error.message == "Perplexity did not finish the answer within 0 s."


async def test_a_connection_that_is_not_taken_in_time_was_not_billed() -> None:
    def reply(sent: httpx.Request) -> httpx.Response:
        raise httpx.ConnectTimeout("", request=sent)

    async with asking(transport=httpx.MockTransport(reply)) as asked:
        error, _ = await error_of(asked, "Why?")
        assert isinstance(error, ProviderTimeoutError)
        assert error.is_free
        assert error.message == "Perplexity did not accept the connection within 10 s."
        assert error.next_step() == "Nothing was billed. Ask again in a while."


@pytest.mark.parametrize("url", ["ftp://example.org", "example.org", "http://host:many"])
async def test_a_base_url_that_is_none_is_named(url: str) -> None:
    async with asking(base_url=url) as asked:
        error, _ = await error_of(asked, "Why?")
        assert isinstance(error, InvalidInputError)
        assert error.message.startswith("PERPLEXITY_BASE_URL is not a web address.")


@pytest.mark.parametrize("key", ["", "pplx-ключ", "two words", "line\nbreak"])
async def test_a_key_that_cannot_be_sent_is_not_sent(key: str) -> None:
    async with asking(key=key) as asked:
        error, _ = await error_of(asked, "Why?")
        assert (type(error), asked.agent.creates) == (ProviderAuthError, 0)


async def test_a_cause_is_one_short_line_without_keys() -> None:
    message = "bad\nkey pplx-abcdefghijk\x1b[31m " + "very long " * 100
    transport = httpx.MockTransport(lambda _: httpx.Response(400, json={"error": {"message": message}}))
    async with asking(transport=transport) as asked:
        with pytest.raises(ProviderRejectedError) as caught:
            await asked.events("Why?")
    error = caught.value
    assert error.message.startswith("Perplexity refused the request: bad key pplx-[redacted] [31m very long")
    assert len(error.message) < 250
    assert "\n" not in error.message


async def test_a_key_of_any_form_never_stands_in_a_cause() -> None:
    error = {"error": {"message": "Incorrect API key provided: gateway-0815-secret."}}
    async with asking(
        key="gateway-0815-secret", transport=httpx.MockTransport(lambda _: httpx.Response(400, json=error))
    ) as asked:
        with pytest.raises(ProviderRejectedError, match=r"provided: .redacted.") as caught:
            await asked.events("Why?")
    assert "0815" not in caught.value.sentence()


@pytest.mark.parametrize(
    "body",
    [b"<html>no", b"", b"[]", b"null", b'{"error": null}', b'{"error": "<b>bold</b>"}', b"\xff\xfe", b"9" * 9999],
)
async def test_a_body_of_any_kind_makes_a_sentence(body: bytes) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(418, content=body))
    async with asking(transport=transport) as asked:
        error, _ = await error_of(asked, "Why?")
    assert error.message == "Perplexity refused the request with HTTP 418."


@pytest.mark.parametrize(
    ("cost", "shown"), [(0.021, "$0.021"), (0.0031, "$0.0031"), (0.5, "$0.50"), (12, "$12.00"), (0.00003, "$0.00003")]
)
def test_an_amount_has_the_digits_it_needs(cost: float, shown: str) -> None:
    assert dollars(cost) == shown
