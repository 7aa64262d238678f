"""Turns that broke off: nothing of them is sent to a provider that would refuse the whole conversation for it."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.agent import KEY, LoopbackAgent
from tests.fixtures.folders import ID, LONG_AGO, only_conversation
from tests.fixtures.handwritten import roles_of, written
from tests.fixtures.sent import messages_to_send
from tests.fixtures.serving import data_of, error_of, serving
from tests.fixtures.stores import UNKNOWN

from conversation_mcp.providers.wire.roles import sent_messages
from conversation_mcp.records.models import Conversation, Message

roles = st.sampled_from(["system", "developer", "user", "assistant", "tool"])
texts = st.sampled_from(["one", "two", "", " \n", "<think>hidden</think>", "<think>not closed"])
stored_messages = st.lists(st.builds(Message, role=roles, content=texts), max_size=12)


@pytest.fixture
def agent() -> Iterator[LoopbackAgent]:
    with LoopbackAgent() as agent:
        yield agent


ORPHANS: dict[str, tuple[tuple[tuple[str, str], ...], list[tuple[str, str]]]] = {
    "a question without an answer at the end": ((("user", "one?"),), [("user", "one?")]),
    "an answer without a question at the start": (
        (("assistant", "Hello."), ("user", "one?"), ("assistant", "One.")),
        [("user", "one?"), ("assistant", "One.")],
    ),
    "a question that was stored twice": (
        (("user", "one?"), ("user", "one?"), ("assistant", "One.")),
        [("user", "one?\n\none?"), ("assistant", "One.")],
    ),
    "an error stored as an answer, twice": (
        (("user", "one?"), ("assistant", "Error 500"), ("assistant", "Error 500")),
        [("user", "one?"), ("assistant", "Error 500\n\nError 500")],
    ),
    "an empty answer": ((("user", "one?"), ("assistant", "")), [("user", "one?")]),
    "a blank question": ((("user", " \n"), ("assistant", "One.")), []),
    "an answer that speaks of tags": (
        (("user", "one?"), ("assistant", "<think>hm")),
        [("user", "one?"), ("assistant", "<think>hm")],
    ),
    "a tool call between question and answer": (
        (("user", "one?"), ("tool", "{}"), ("assistant", "One.")),
        [("user", "one?"), ("assistant", "One.")],
    ),
    "a system message in the middle": (
        (("user", "one?"), ("system", "Be brief."), ("assistant", "One.")),
        [("system", "Be brief."), ("user", "one?"), ("assistant", "One.")],
    ),
}


@pytest.mark.parametrize(("said", "sent"), ORPHANS.values(), ids=ORPHANS)
async def test_a_conversation_with_orphans_heals_when_it_goes_on(
    tmp_path: Path, agent: LoopbackAgent, said: tuple[tuple[str, str], ...], sent: list[tuple[str, str]]
) -> None:
    """Orphans: one question or tool call without its answer, and the provider refuses the session for ever."""
    path = written(tmp_path, *said)
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
        data_of(await client.call_tool("deep_research_followup", {"conversationId": ID, "query": "three? [[polls:0]]"}))
    shown = [(item["role"], item["content"]) for item in agent.requests[0]["input"]]
    merged = [
        (role, "\n\n".join(text for _, text in row)) for role, row in groupby([*sent, ("user", "two?")], itemgetter(0))
    ]
    assert shown == merged
    again = [(item["role"], item["content"]) for item in agent.requests[1]["input"]]
    assert again[: len(merged)] == merged
    kept = only_conversation(tmp_path)["messages"]
    assert [(message["role"], message["content"]) for message in kept[: len(said)]] == list(said)
    assert path.parent.name == ID


@given(stored_messages)
def test_whatever_is_stored_what_is_sent_alternates_and_ends_with_the_question(said: list[Message]) -> None:
    """Empty messages and repairs in one direction only, which brick a session."""
    conversation = Conversation(
        conversation_id=UNKNOWN, created_at=LONG_AGO, updated_at=LONG_AGO, message_count=0, messages=tuple(said)
    )
    sent = messages_to_send(conversation, "next?")
    spoken = [row["role"] for row in sent_messages(sent) if row["role"] != "system"]
    assert spoken == (["user", "assistant"] * len(spoken))[: len(spoken)]
    assert (sent[-1].role, sent[-1].content) == ("user", "next?")
    longer = conversation.changed(
        messages=(*said, Message(role="user", content="next?"), Message(role="assistant", content="So."))
    )
    if not any(message.role in ("system", "developer") for message in said):
        assert messages_to_send(longer, "more?")[: len(sent)] == sent
    assert [message.role for message in sent].count("system") == (sent[0].role == "system")
    assert all(message.content.strip() for message in sent)


@pytest.mark.parametrize("faults", [["500", "502_html"], ["early_eof_lost", "failed"], ["429_long", "empty"]])
async def test_two_failures_and_then_an_answer_leave_no_trace_among_the_messages(
    tmp_path: Path, agent: LoopbackAgent, faults: list[str]
) -> None:
    """Errors stored as answers, and questions stored twice by a retry: refused for ever after."""
    agent.faults.extend(["", *faults])
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
        first = data_of(await client.call_tool("search", {"query": "one?"}))
        call = ("search_followup", {"conversationId": first["conversationId"], "query": "two?"})
        errors = [error_of(await client.call_tool(*call)) for _ in faults]
        data_of(await client.call_tool(*call))
    stored = only_conversation(tmp_path)
    assert roles_of(stored["messages"]) == ["system", "user", "assistant", "user", "assistant"]
    assert stored["messages"][-1]["content"] == "answer 2 to: two?[1]"
    assert [turn["question"] for turn in stored["unansweredTurns"]] == ["two?", "two?"]
    assert [turn["error"]["code"] for turn in stored["unansweredTurns"]] == [error["code"] for error in errors]
    assert "pendingTurn" not in stored
    assert len(agent.requests[-1]["input"]) == 4


@pytest.mark.parametrize("status", ["running", "interrupted", "failed"])
@pytest.mark.parametrize("partial", [{}, {"partialText": "half an ans"}])
async def test_a_question_that_broke_off_at_any_step_is_set_aside_by_the_next_one(
    tmp_path: Path, agent: LoopbackAgent, status: str, partial: dict[str, str]
) -> None:
    """A synthetic turn made up for a question that has no answer, which the next request then carries."""
    left = {"question": "two?", "provider": "perplexity", "status": status, "startedAt": LONG_AGO, **partial}
    written(tmp_path, ("user", "one?"), ("assistant", "One."), pendingTurn=left)
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
        data_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "three?"}))
    assert [item["content"] for item in agent.requests[0]["input"]] == ["one?", "One.", "three?"]
    stored = only_conversation(tmp_path)
    assert [message["content"] for message in stored["messages"]] == [
        "one?",
        "One.",
        "three?",
        "answer 2 to: three?[1]",
    ]
    assert stored["unansweredTurns"] == [IsPartialDict(question="two?", **partial)]


async def test_content_that_is_a_list_is_told_and_not_shown_as_an_object(tmp_path: Path, agent: LoopbackAgent) -> None:
    """Content that is a list of parts, shown as `[object Object]` or sent as it is."""
    path = written(tmp_path, ("user", "one?"))
    path.write_bytes(path.read_bytes().replace(b'"one?"', b'[{"type": "text", "text": "one?"}]'))
    async with serving(tmp_path, perplexity_api_key=KEY, perplexity_base_url=agent.base_url) as client:
        error = error_of(await client.call_tool("search_followup", {"conversationId": ID, "query": "two?"}))
    assert error["code"] == "CONVERSATION_CORRUPTED"
    assert "messages[0].content must be a string" in error["message"]
    assert agent.creates == 0
