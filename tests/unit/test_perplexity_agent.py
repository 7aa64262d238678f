"""The loopback agent keeps the API's rules, alone and as a process of its own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.fixtures.agent import KEY, LoopbackAgent, agent_process
from tests.fixtures.asked import request

from conversation_mcp.providers.base import Finished
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.settings import Settings

USER = {"role": "user", "content": "Why?"}
ASSISTANT = {"role": "assistant", "content": "So."}


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as running:
        yield running


def post(agent: LoopbackAgent, body: dict[str, Any], key: str = KEY) -> httpx.Response:
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.post(f"{agent.base_url}/v1/agent", json=body, headers=headers, trust_env=False)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"messages": []}, 'unknown field "messages"'),
    ({"input": [{**USER, "name": "x"}]}, 'unknown field "name"'),
    ({"tools": [{"type": "web_search", "search_domain_filter": ["x.org"]}]}, 'unknown field "search_domain_filter"'),
    ({"tools": [{"type": "web_search", "filters": {"search_mode": "web"}}]}, 'unknown field "search_mode"'),
    ({"input": []}, "input cannot be empty"),
    ({"input": [{"role": "user", "content": " "}]}, "content cannot be empty"),
    ({"input": [{"role": "tool", "content": "x"}]}, "role is not known"),
    ({"input": [USER, USER]}, "should be alternating"),
    ({"input": [USER, ASSISTANT]}, "Last message must have role `user`"),
    ({"preset": "slow"}, 'preset "slow" is not supported'),
    ({"model": "openai/gpt-6-luna"}, "exactly one of"),
    ({"background": True, "store": False}, "background requires store"),
    ({"reasoning": {"effort": "huge"}}, "reasoning effort"),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_the_api_refuses_is_refused(agent: LoopbackAgent, change: dict[str, Any], message: str) -> None:
    refused = post(agent, {"preset": "fast", "input": [USER], **change})
    assert (refused.status_code, agent.paid) == (400, [])
    assert message in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    "filters",
    [
        {"search_after_date_filter": "2026-01-31"},
        {"search_recency_filter": "fortnight"},
        {"search_recency_filter": "day", "search_after_date_filter": "01/31/2026"},
        {"search_domain_filter": ["https://example.org"]},
        {"search_domain_filter": ["example.org"] * 21},
    ],
)
def test_filters_that_the_api_refuses_are_refused(agent: LoopbackAgent, filters: dict[str, Any]) -> None:
    tools = [{"type": "web_search", "filters": filters}]
    assert post(agent, {"preset": "fast", "input": [USER], "tools": tools}).status_code == 400


def test_a_model_of_a_maker_that_wants_a_limit_is_refused_without_one(agent: LoopbackAgent) -> None:
    refused = post(agent, {"model": "anthropic/claude-opus-5", "input": [USER]})
    assert "max_output_tokens is required" in refused.json()["error"]["message"]


def test_a_wrong_key_is_refused(agent: LoopbackAgent) -> None:
    refused = post(agent, {"preset": "fast", "input": [USER]}, key="pplx-other")
    assert (refused.status_code, refused.json()["error"]["type"]) == (401, "invalid_api_key")


def test_a_plain_call_gets_the_whole_response_object(agent: LoopbackAgent) -> None:
    response = post(agent, {"preset": "fast", "input": [USER, ASSISTANT, USER]}).json()
    assert len(response) == 32
    assert response["output"][-1]["content"][0]["text"] == "answer 2 to: Why?[1]"


@pytest.mark.slow
async def test_the_agent_runs_as_a_process_that_keeps_a_journal(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    with agent_process(journal) as base_url:
        settings = Settings.model_validate(
            {"logs_dir": tmp_path, "perplexity_api_key": KEY, "perplexity_base_url": base_url}
        )
        client = LazyClient()
        [provider] = [each for each in build_providers(ProviderContext(settings, client)) if each.name == "perplexity"]
        assert provider
        events = [event async for event in provider.ask(request("Why? [[fault:429:1]] [[delay:0.01]]"))]
        await client.aclose()
    assert isinstance(events[-1], Finished)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [(line["paid"], line["question"]) for line in lines] == [
        (False, "Why? [[fault:429:1]] [[delay:0.01]]"),
        (True, "Why? [[fault:429:1]] [[delay:0.01]]"),
    ]
    assert lines[1]["responseId"] == "resp_00000000-0000-4000-8000-000000000001"
    assert lines[1]["body"]["stream"] is True
