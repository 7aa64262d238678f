"""The Messages API: what is sent, and what is made of an answer."""

from typing import Any

import pytest
from tests.fixtures.asked import answer_of, request
from tests.fixtures.messages_client import talking
from tests.fixtures.messages_server import COUNTED_TOKENS
from tests.fixtures.raw_answers import shown_in

from conversation_mcp.errors import ProviderRejectedError, RunLostError
from conversation_mcp.providers.base import ListedModel, Progress, TokenCounter
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.records.models import Source
from conversation_mcp.records.usage import Usage

BEFORE = (ChatMessage("system", "Be short."), ChatMessage("user", "One?"), ChatMessage("assistant", "1"))


async def test_a_question_has_the_fields_that_are_required_and_asks_for_caching() -> None:
    async with talking() as peer:
        await peer.answer("Two?", *BEFORE)
        assert peer.sent == [
            {
                "model": "small-1",
                "max_tokens": 64_000,
                "system": "Be short.",
                "messages": [
                    {"role": "user", "content": "One?"},
                    {"role": "assistant", "content": "1"},
                    {"role": "user", "content": "Two?"},
                ],
                "cache_control": {"type": "ephemeral"},
                "stream": True,
            }
        ]


async def test_the_key_and_the_version_go_as_headers_of_their_own() -> None:
    async with talking() as peer:
        await peer.answer("Why?")
        headers = {name.lower(): value for name, value in peer.server.headers[-1].items()}
    assert headers["anthropic-version"] == "2026-10-21"
    assert "authorization" not in headers


async def test_questions_in_a_row_are_sent_as_one() -> None:
    async with talking() as peer:
        await peer.answer(
            "And that?", ChatMessage("user", "Who?"), ChatMessage("system", "S."), ChatMessage("user", "Why?")
        )
        assert peer.sent[-1]["messages"] == [{"role": "user", "content": "Who?\n\nWhy?\n\nAnd that?"}]
        assert peer.sent[-1]["system"] == "S."


@pytest.mark.parametrize("address", ["", "/v1", "/v1/messages"])
async def test_the_address_is_taken_with_and_without_its_version(address: str) -> None:
    async with talking() as first:
        async with talking(base_url=f"{first.api.origin}{address}") as peer:
            await peer.answer("Why?")
        assert first.server.paid == ["Why?"]


@pytest.mark.parametrize(
    ("model", "wanted", "sent", "notice"),
    [
        ("small-1", "high", {"effort": "high"}, ""),
        ("old-1", "low", {"effort": "medium"}, "reasoning_effort low was sent as medium, the nearest that old-1 has."),
        ("plain-1", "low", None, "reasoning_effort was not applied; plain-1 has no levels of effort that are known."),
    ],
)
async def test_the_list_of_models_decides_about_the_effort(
    model: str, wanted: str, sent: dict[str, str] | None, notice: str
) -> None:
    async with talking() as peer:
        answer = await peer.answer("Why?", model=model, reasoning_effort=wanted)
        assert peer.sent[-1].get("output_config") == sent
        assert ("thinking" in peer.sent[-1]) is (model == "small-1")
    assert (notice in answer.notices) is bool(notice)


async def test_without_a_list_of_models_only_what_every_model_takes_is_sent() -> None:
    async with talking() as peer:
        peer.api.lists_models = False
        answer = await peer.answer("Why?", reasoning_effort="high")
        assert peer.sent[-1].keys() == {"model", "max_tokens", "messages", "cache_control", "stream"}
        assert peer.sent[-1]["max_tokens"] == 16_384
    assert any("reasoning_effort was not applied" in notice for notice in answer.notices)


async def test_a_limit_above_that_of_the_model_is_lowered_to_it() -> None:
    async with talking(quirks={"output_limit_tokens": 500_000}) as peer:
        await peer.answer("Why?", model="plain-1")
        assert peer.sent[-1]["max_tokens"] == 8_000


async def test_a_model_that_will_be_gone_is_told() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why?", model="old-1")
    assert "old-1 is deprecated and ends on 2027-02-01; choose a newer model" in answer.notices


async def test_the_list_tells_windows_and_sight() -> None:
    async with talking() as peer:
        listed = await peer.provider.list_models()
    assert listed[0] == ListedModel("small-1", 200_000, images=True)
    assert ListedModel("blind-1", 200_000, images=False) in listed
    assert listed[-1].id == "last-1"  # not on the first page of twenty
    assert "gone-1" not in {model.id for model in listed}


async def test_numbers_in_the_text_stand_for_the_sources_in_the_order_of_their_citation() -> None:
    async with talking() as peer:
        events = await peer.events("Trees?", mode="search")
        answer = answer_of(events)
    assert answer.content == ("answer 1 to: Trees?\n\nIt is sorted [1], and balanced. [2][1] \n\nThat is all.")
    assert shown_in(events) == answer.content
    date = "November 2, 2026"
    assert answer.sources == (
        Source(
            id=1,
            title="Page 3",
            url="https://example.org/3",
            date=date,
            snippet="Keys are sorted. … Leaves are linked.",
        ),
        Source(id=2, title="Page 1", url="https://example.org/1", date=date, snippet="Nodes split."),
        Source.of(id=3, title="Page 2", url="https://example.org/2", date=date, snippet=None),
    )
    assert Progress("searching: Trees?") in events


async def test_a_search_has_its_tool_and_is_told_that_numbers_come_by_themselves() -> None:
    async with talking() as peer:
        await peer.answer("Why?", *BEFORE, mode="search")
        tool = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
        assert peer.sent[-1]["tools"] == [tool]
        assert peer.sent[-1]["system"].startswith("Be short.\n\nWrite no numbers in square brackets")


@pytest.mark.parametrize(
    ("domains", "field"),
    [
        (["example.org", "docs.python.org"], "allowed_domains"),
        (["-example.org", "-docs.python.org"], "blocked_domains"),
    ],
)
async def test_domains_go_to_the_search_tool(domains: list[str], field: str) -> None:
    async with talking() as peer:
        answer = await peer.answer("Why?", mode="search", search_domain_filter=domains)
        assert peer.sent[-1]["tools"][0][field] == ["example.org", "docs.python.org"]
    assert answer.notices == ()


async def test_a_model_that_cannot_search_is_not_asked_to() -> None:
    async with talking() as peer:
        with pytest.raises(ProviderRejectedError, match="offline-1 of Anthropic cannot search"):
            await peer.answer("Why?", mode="search", model="offline-1")
        assert peer.sent == []


async def test_a_search_that_failed_under_a_status_of_success_is_told() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why? [[fault:search_fails]]", mode="search")
    assert "1 of its searches failed (max_uses_exceeded)." in answer.notices
    assert "Anthropic named no sources; it may have answered without a search." in answer.notices


async def test_an_answer_without_a_search_is_told() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why? [[fault:no_search]]", mode="search")
    assert "Anthropic named no sources; it may have answered without a search." in answer.notices


async def test_tokens_from_the_cache_count_among_those_sent() -> None:
    async with talking() as peer:
        answer = await peer.answer("Two?", *BEFORE)
    assert answer.usage == Usage(
        input_tokens=30, cached_input_tokens=7, written_input_tokens=3, output_tokens=5, reasoning_tokens=2
    )


async def test_searches_are_counted_because_each_of_them_has_a_price() -> None:
    async with talking() as peer:
        answer = await peer.answer("Why?", mode="search")
    assert answer.usage is not None
    assert answer.usage.searches == 1


async def test_thinking_is_kept_apart_and_never_shown() -> None:
    async with talking() as peer:
        events = await peer.events("Why? [[fault:thinking]]")
    answer = answer_of(events)
    assert (answer.content, answer.reasoning) == ("answer 1 to: Why?", "secret plan")
    assert shown_in(events) == answer.content
    assert Progress("thinking") in events


async def test_the_provider_counts_the_tokens_of_a_request_for_nothing() -> None:
    async with talking() as peer:
        assert isinstance(peer.provider, TokenCounter)
        asked: dict[str, Any] = {"mode": "search", "model": "small-1"}
        assert await peer.provider.count(request("Why?", *BEFORE, **asked)) == COUNTED_TOKENS
        assert peer.api.counted[-1].keys() == {"model", "system", "messages", "tools"}
        assert peer.sent == []


async def test_no_answer_can_be_looked_up_again() -> None:
    async with talking() as peer:
        for look in (peer.provider.fetch, peer.provider.cancel):
            with pytest.raises(RunLostError):
                await look("msg_1")
        with pytest.raises(RunLostError):
            _ = [event async for event in peer.provider.follow("msg_1")]
