"""Bad input gets a code and a sentence that says what is right, before anything is sent or written."""

from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot
from tests.fixtures.models import FakePerplexity
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving

UNKNOWN = "20260131-1769817600000"

BAD_ARGUMENTS: list[tuple[str, dict[str, Any], Any]] = [
    ("search", {}, snapshot("search needs the argument 'query'.")),
    ("search", {"query": ""}, snapshot("query must not be empty.")),
    ("search", {"query": " \n\t"}, snapshot("query must not be empty.")),
    ("search", {"query": 3}, snapshot("query must be a string; got 3.")),
    ("search", {"query": None}, snapshot("query must be a string; got None.")),
    ("search", {"query": "x" * 1001}, snapshot("query has 1,001 characters; at most 1,000 are accepted.")),
    ("search", {"quary": "x"}, snapshot("search has no argument 'quary'. Did you mean 'query'?")),
    (
        "search",
        {"query": "x", "zzz": 1},
        snapshot(
            "search has no argument 'zzz'. It takes continueFrom, model, query, return_related_questions, search_after_date_filter, search_before_date_filter, search_domain_filter, search_mode, search_recency_filter, showThinking."
        ),
    ),
    (
        "search",
        {"query": "x", "showThinking": True, "show_thinking": True},
        snapshot("search was given 'showThinking' in two spellings; give one."),
    ),
    ("search", {"query": "x", "showThinking": "some"}, snapshot("showThinking must be true or false; got 'some'.")),
    (
        "search",
        {"query": "x", "search_recency_filter": "fortnight"},
        snapshot("search_recency_filter must be one of hour, day, week, month, year; got 'fortnight'."),
    ),
    (
        "search",
        {"query": "x", "search_domain_filter": {"example.org": True}},
        snapshot('search_domain_filter must be a list of domains such as ["example.org", "docs.python.org"].'),
    ),
    (
        "search",
        {"query": "x", "search_domain_filter": ["https://example.org/x"]},
        snapshot(
            "search_domain_filter accepts bare domains such as example.org or -example.org, not URLs; got 'https://example.org/x'."
        ),
    ),
    (
        "search",
        {"query": "x", "search_domain_filter": ["docs/*.md"]},
        snapshot(
            "search_domain_filter accepts bare domains such as example.org or -example.org, not URLs; got 'docs/*.md'. Paths are for model 'local'."
        ),
    ),
    (
        "search",
        {"query": "x", "search_domain_filter": ["a.org", "-b.org"]},
        snapshot("search_domain_filter accepts domains to allow or, with a leading -, domains to deny, but not both."),
    ),
    (
        "search",
        {"query": "x", "search_domain_filter": ["a.org"] * 21},
        snapshot("search_domain_filter accepts 1 to 20 domains; got 21."),
    ),
    (
        "search",
        {"query": "x", "search_after_date_filter": "31.01.2026"},
        snapshot("search_after_date_filter must be a date such as 2026-01-31 or 01/31/2026."),
    ),
    (
        "search",
        {"query": "x", "search_after_date_filter": "2026-02-30"},
        snapshot("search_after_date_filter must be a date such as 2026-01-31 or 01/31/2026."),
    ),
    (
        "search",
        {"query": "x", "search_before_date_filter": 20260131},
        snapshot("search_before_date_filter must be a date such as 2026-01-31 or 01/31/2026."),
    ),
    (
        "search",
        {"query": "x", "search_after_date_filter": "2026-02-01", "search_before_date_filter": "01/01/2026"},
        snapshot("search_after_date_filter lies after search_before_date_filter."),
    ),
    (
        "search",
        {"query": "x", "search_recency_filter": "day", "search_after_date_filter": "2026-01-01"},
        snapshot("search_recency_filter cannot be combined with dates: give one or the other."),
    ),
    ("search", {"query": "x", "search_mode": "sec"}, snapshot("search_mode must be one of web, academic; got 'sec'.")),
    (
        "search",
        {"query": "x", "model": "sonar"},
        snapshot(
            "model must be a preset (fast, low, medium, high, xhigh), provider/model, or local; got 'sonar'. Similar names: perplexity/sonar."
        ),
    ),
    (
        "search",
        {"query": "x", "reasoning_effort": "low"},
        snapshot(
            "search has no argument 'reasoning_effort'. It takes continueFrom, model, query, return_related_questions, search_after_date_filter, search_before_date_filter, search_domain_filter, search_mode, search_recency_filter, showThinking."
        ),
    ),
    (
        "deep_research",
        {"query": "x", "reasoning_effort": "extreme"},
        snapshot("reasoning_effort must be one of minimal, low, medium, high, max; got 'extreme'."),
    ),
    ("search_followup", {"query": "x"}, snapshot("search_followup needs the argument 'conversationId'.")),
    ("get_conversation_history", {"conversationId": UNKNOWN, "limit": 0}, snapshot("limit must be at least 1; got 0.")),
    (
        "get_conversation_history",
        {"conversationId": UNKNOWN, "limit": 501},
        snapshot("limit must be at most 500; got 501."),
    ),
    (
        "get_conversation_history",
        {"conversationId": UNKNOWN, "limit": "5.5"},
        snapshot("limit must be a whole number; got '5.5'."),
    ),
    (
        "get_conversation_history",
        {"conversationId": UNKNOWN, "offset": -1},
        snapshot("offset must be at least 0; got -1."),
    ),
    (
        "serch",
        {"query": "x"},
        snapshot(
            "there is no tool 'serch'; there are search, search_followup, deep_research, deep_research_followup, get_conversation_history, list_conversations. Did you mean 'search'?"
        ),
    ),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), BAD_ARGUMENTS)
async def test_a_bad_argument_is_refused_before_anything_is_written(
    tmp_path: Path, tool: str, arguments: dict[str, Any], message: object
) -> None:
    provider = FakePerplexity()
    async with serving(tmp_path, provider, max_question_chars=1000) as client:
        error = error_of(await client.call_tool(tool, arguments))
    assert error["code"] == "VALIDATION_ERROR"
    assert error["message"] == message
    assert provider.requests == []
    assert list(tmp_path.iterdir()) == []


BAD_IDS = [
    "../../../etc/passwd",
    "..\\x",
    "/etc/passwd",
    "%2e%2e",
    "20260131-176981760000\0",
    "２０２６０１３１-1769817600000",
    f"{UNKNOWN}\n",
    f" {UNKNOWN}",
    UNKNOWN[:-1],
    UNKNOWN + "0",
    "",
]


@pytest.mark.parametrize("tool", ["search_followup", "deep_research_followup", "get_conversation_history"])
@pytest.mark.parametrize("conversation_id", BAD_IDS)
async def test_an_id_of_another_shape_is_refused_and_leaves_no_trace(
    tmp_path: Path, tool: str, conversation_id: str
) -> None:
    provider = FakeProvider()
    arguments = {"conversationId": conversation_id} | ({"query": "x"} if "followup" in tool else {})
    async with serving(tmp_path, provider) as client:
        error = error_of(await client.call_tool(tool, arguments))
    assert error["code"] == "VALIDATION_ERROR"
    assert "eight digits, a dash, thirteen digits" in error["message"]
    assert provider.requests == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tool", ["search_followup", "deep_research_followup", "get_conversation_history"])
async def test_an_unknown_id_leaves_no_trace(tmp_path: Path, tool: str) -> None:
    arguments = {"conversationId": UNKNOWN} | ({"query": "x"} if "followup" in tool else {})
    async with serving(tmp_path, FakeProvider()) as client:
        await client.call_tool("search", {"query": "so that the folder is there"})
        before = sorted(tmp_path.rglob("*"))
        error = error_of(await client.call_tool(tool, arguments))
    assert error == {
        "code": "CONVERSATION_NOT_FOUND",
        "message": f"no conversation {UNKNOWN} in {tmp_path}/conversation-logs. "
        "Check the id with list_conversations, or start one with search.",
        "conversationId": UNKNOWN,
        "retryable": False,
    }
    assert sorted(tmp_path.rglob("*")) == before


async def test_without_a_provider_nothing_is_written(tmp_path: Path) -> None:
    async with serving(tmp_path) as client:
        error = error_of(await client.call_tool("search", {"query": "x"}))
    assert error == snapshot(
        {
            "code": "PROVIDER_NOT_CONFIGURED",
            "message": "no provider can search. Set PERPLEXITY_API_KEY, or CONVERSATION_MCP_DOCUMENTS to search your own files.",
            "retryable": False,
        }
    )
    assert list(tmp_path.iterdir()) == []


async def test_either_spelling_null_and_a_list_as_json_are_taken(tmp_path: Path) -> None:
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        first = data_of(
            await client.call_tool(
                "search",
                {"query": "x", "search_domain_filter": '["a.org", "b.org"]', "show_thinking": False, "model": None},
            )
        )
        await client.call_tool(
            "search_followup",
            {"conversation_id": first["conversationId"], "query": "y", "searchAfterDateFilter": "01/31/2026"},
        )
    assert provider.requests[0].options.search_domain_filter == ("a.org", "b.org")
    assert str(provider.requests[1].options.search_after_date_filter) == "2026-01-31"
