"""Everything a provider can do wrong, through the whole server: the code, what is kept, and that nothing is paid twice."""

import json
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from mcp import Client
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.folders import only_conversation
from tests.fixtures.serving import data_of, error_of, serving, text_of

NOTHING_BILLED = {
    "400": "PROVIDER_REJECTED",
    "401": "PROVIDER_AUTH",
    "401_quota": "PROVIDER_QUOTA",
    "402": "PROVIDER_QUOTA",
    "403": "PROVIDER_REJECTED",
    "403_retired": "PROVIDER_REJECTED",
    "404": "PROVIDER_REJECTED",
    "413": "CONTEXT_TOO_LARGE",
    "429_long": "PROVIDER_RATE_LIMITED",
}
MAYBE_BILLED = {
    "500": "PROVIDER_UNAVAILABLE",
    "502_html": "PROVIDER_UNAVAILABLE",
    "html_200": "PROVIDER_UNAVAILABLE",
    "dropped_before": "PROVIDER_UNAVAILABLE",
    "dropped_lost": "PROVIDER_UNAVAILABLE",
    "early_eof_lost": "PROVIDER_UNAVAILABLE",
    "malformed_lost": "PROVIDER_UNAVAILABLE",
    "failed": "PROVIDER_UNAVAILABLE",
    "failed_early": "PROVIDER_UNAVAILABLE",
    "error": "PROVIDER_UNAVAILABLE",
    "cancelled": "CANCELLED",
    "incomplete_empty": "ANSWER_INCOMPLETE",
    "empty": "ANSWER_INCOMPLETE",
    "refusal": "ANSWER_INCOMPLETE",
}
BROKEN_BUT_WHOLE = ["dropped", "early_eof", "malformed"]
OTHER_ANSWERS = [
    "think",
    "big",
    "unicode",
    "split_bytes",
    "null_dates",
    "many_results",
    "only_fetch",
    "unknown_events",
    "no_event_lines",
    "crlf",
    "ignore_related",
]


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


def connected(folder: Path, agent: LoopbackAgent) -> AbstractAsyncContextManager[Client]:
    return serving(folder, perplexity_api_key=KEY, perplexity_base_url=agent.base_url)


async def ask(client: Client, question: str, **arguments: object) -> Any:
    return await client.call_tool("search", {"query": question, **arguments})


@pytest.mark.parametrize(("fault", "code"), [*NOTHING_BILLED.items(), *MAYBE_BILLED.items()])
async def test_a_fault_has_its_code_is_not_repeated_and_the_next_question_works(
    tmp_path: Path, agent: LoopbackAgent, fault: str, code: str
) -> None:
    agent.faults.append(fault)
    async with connected(tmp_path, agent) as client:
        result = await ask(client, "one?")
        error = error_of(result)
        assert agent.creates == 1
        pending = only_conversation(tmp_path)["pendingTurn"]
        next_one = data_of(
            await client.call_tool("search_followup", {"conversationId": error["conversationId"], "query": "two?"})
        )
    assert error["code"] == code
    assert pending == IsPartialDict(question="one?", status="failed", error=IsPartialDict(code=code))
    assert next_one["status"] == "completed"
    assert agent.creates == 2
    assert [item["content"] for item in agent.requests[-1]["input"] if item["role"] == "user"] == ["two?"]
    conversation = only_conversation(tmp_path)
    assert [turn["question"] for turn in conversation["unansweredTurns"]] == ["one?"]
    assert_nothing_leaks(json.dumps(conversation) + text_of(result) + json.dumps(error))
    if fault in MAYBE_BILLED and code == "PROVIDER_UNAVAILABLE":
        assert "may have been billed" in error["message"]


def assert_nothing_leaks(text: str) -> None:
    for secret in ("pplx-", "<html", "<!DOCTYPE", "Traceback", "cloudflare"):
        assert secret not in text


@pytest.mark.parametrize("fault", ["failed", "error"])
async def test_text_and_cost_of_a_failed_answer_are_kept(tmp_path: Path, agent: LoopbackAgent, fault: str) -> None:
    agent.faults.append(fault)
    async with connected(tmp_path, agent) as client:
        error_of(await ask(client, "one?"))
    pending = only_conversation(tmp_path)["pendingTurn"]
    assert pending["partialText"]
    assert pending["responseId"].startswith("resp_")


@pytest.mark.parametrize("fault", BROKEN_BUT_WHOLE)
async def test_an_answer_whose_stream_broke_is_fetched_by_its_id_not_asked_again(
    tmp_path: Path, agent: LoopbackAgent, fault: str
) -> None:
    agent.faults.append(fault)
    async with connected(tmp_path, agent) as client:
        data = data_of(await ask(client, "one?"))
    assert data["status"] == "completed"
    assert "fetched by its id" in data["notices"][0]
    assert agent.creates == 1
    assert only_conversation(tmp_path)["messages"][-1]["content"] == data["rawResultText"]


async def test_an_answer_cut_with_text_is_kept_with_its_cost(tmp_path: Path, agent: LoopbackAgent) -> None:
    agent.faults.append("incomplete")
    async with connected(tmp_path, agent) as client:
        data = data_of(await ask(client, "one?"))
    assert data["status"] == "incomplete"
    assert "billed $" in data["notices"][0]
    assert only_conversation(tmp_path)["messages"][-1] == IsPartialDict(
        finishReason="length", content=data["rawResultText"], usage=IsPartialDict(costUsd=data["usage"]["costUsd"])
    )


@pytest.mark.parametrize("fault", OTHER_ANSWERS)
async def test_an_unusual_answer_is_stored_whole_and_can_be_followed_up(
    tmp_path: Path, agent: LoopbackAgent, fault: str
) -> None:
    agent.faults.append(fault)
    async with connected(tmp_path, agent) as client:
        data = data_of(await ask(client, "one?", return_related_questions=True))
        conversation = {"conversationId": data["conversationId"]}
        data_of(await client.call_tool("search_followup", {**conversation, "query": "two?"}))
        history = data_of(await client.call_tool("get_conversation_history", {**conversation, "limit": 4}))
    stored = only_conversation(tmp_path)["messages"]
    assert "<think>" not in stored[2]["content"]
    assert stored[2]["content"].startswith(data["rawResultText"][:1000])
    assert agent.requests[-1]["input"][2]["content"] == stored[2]["content"]
    assert history["totalCount"] == 4
    stored[2]["content"].encode()


async def test_rate_limits_are_waited_for_and_said(tmp_path: Path, agent: LoopbackAgent) -> None:
    agent.faults.extend(["429", "429"])
    async with connected(tmp_path, agent) as client:
        data = data_of(await ask(client, "one?"))
    assert agent.creates == 3
    assert len(agent.paid) == 1
    assert "2 times after being rate limited" in data["notices"][0]


async def test_a_provider_that_cannot_be_reached_is_unavailable_and_nothing_was_billed(tmp_path: Path) -> None:
    nowhere = "http://127.0.0.1:9"
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=nowhere, retries=0) as client:
        error = error_of(await ask(client, "one?"))
    assert error["code"] == "PROVIDER_UNAVAILABLE"
    assert "Nothing was billed" in error["message"]


async def test_what_the_provider_has_no_field_for_is_asked_for_in_words_and_never_stored(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    async with connected(tmp_path, agent) as client:
        data = data_of(
            await ask(
                client,
                "one?",
                search_mode="academic",
                return_related_questions=True,
                search_domain_filter=["example.org"],
                search_after_date_filter="2026-01-31",
            )
        )
    sent = agent.requests[0]
    assert sent["input"][-1]["content"].startswith("one?\n\n")
    assert sent["tools"][0]["filters"] == {
        "search_domain_filter": ["example.org"],
        "search_after_date_filter": "01/31/2026",
    }
    assert data["relatedQuestions"]
    assert any("academic" in notice for notice in data["notices"])
    question, answer = only_conversation(tmp_path)["messages"][1:]
    assert question["content"] == "one?"
    assert question["options"] == {
        "search_domain_filter": ["example.org"],
        "search_after_date_filter": "2026-01-31",
        "search_mode": "academic",
        "return_related_questions": True,
    }
    assert answer["relatedQuestions"] == data["relatedQuestions"]
    assert all(related not in answer["content"] for related in data["relatedQuestions"])


async def test_a_log_with_only_the_contract_fields_continues_and_keeps_what_its_owner_wrote(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    conversation_id = "20250124-1706102400123"
    path = tmp_path / "conversation-logs" / conversation_id / "conversation.json"
    path.parent.mkdir(parents=True)
    by_hand = {
        "conversationId": conversation_id,
        "createdAt": "2025-01-24T15:00:00.123Z",
        "note": "ask about 5.9 next",
        "updatedAt": "2025-01-24T15:05:30.456Z",
        "messageCount": 17,
        "messages": [
            {"role": "user", "content": "one?"},
            {"role": "assistant", "content": "A `<think>` stays.", "mark": "good"},
        ],
    }
    text = json.dumps(by_hand, indent=4).replace("\n", "\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    async with connected(tmp_path, agent) as client:
        data = data_of(await client.call_tool("search_followup", {"conversationId": conversation_id, "query": "two?"}))
    assert [item["content"] for item in agent.requests[0]["input"]] == ["one?", "A `<think>` stays.", "two?"]
    kept = only_conversation(tmp_path)
    assert (kept["note"], kept["messages"][1]["mark"], kept["messageCount"]) == ("ask about 5.9 next", "good", 4)
    assert kept["createdAt"] == "2025-01-24T15:00:00.123Z"
    assert data["messageCount"] == 4
    assert list(kept)[-1] == "messages"
