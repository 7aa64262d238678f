"""The dear call takes the filters of the cheap one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.cli import piped
from tests.fixtures.folders import only_conversation
from tests.fixtures.serving import data_of, error_of, serving

FILTERS = {"search_after_date_filter": "2026-06-01", "search_domain_filter": ["example.org"]}
SENT = {"search_after_date_filter": "06/01/2026", "search_domain_filter": ["example.org"]}


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


async def test_a_research_and_its_follow_up_search_only_where_they_may(tmp_path: Path, agent: LoopbackAgent) -> None:
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
        asked = {**FILTERS, "return_related_questions": True, "query": "Why? [[polls:0]]"}
        first = data_of(await client.call_tool("deep_research", asked))
        follow_up = {**asked, "conversationId": first["conversationId"], "search_mode": "academic"}
        data_of(await client.call_tool("deep_research_followup", follow_up))
    for body in agent.requests:
        assert body["background"] is True
        assert body["tools"] == [{"type": "web_search", "filters": SENT}]
        assert "Related questions" in body["input"][-1]["content"]
    options = [message.get("options") for message in only_conversation(tmp_path)["messages"] if "tool" in message]
    assert [option["search_after_date_filter"] for option in options] == ["2026-06-01", "2026-06-01"]


async def test_filters_that_do_not_fit_together_are_refused_before_anything_is_sent(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
        both = {**FILTERS, "search_recency_filter": "day", "query": "Why?"}
        error = error_of(await client.call_tool("deep_research", both))
    assert "search_recency_filter cannot be combined with dates" in error["message"]
    assert agent.requests == []


def test_the_command_takes_them_too(tmp_path: Path, agent: LoopbackAgent) -> None:
    ended = piped(tmp_path, "ask", "--deep", "--recency", "month", "Why? [[polls:0]]", base_url=agent.base_url)
    assert ended.code == 0, ended.err
    assert agent.requests[0]["tools"] == [{"type": "web_search", "filters": {"search_recency_filter": "month"}}]
