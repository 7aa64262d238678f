"""Whom a follow-up stays with, and with which model."""

from tests.fixtures.folders import ID

from conversation_mcp.providers.choosing.choice import Kept
from conversation_mcp.records.models import Conversation, Message, PendingTurn
from conversation_mcp.records.modes import Mode
from conversation_mcp.tools.catalog import mode_of
from conversation_mcp.turns.kept import kept


def conversation(*turns: tuple[str, str, str | None, str | None], **facts: object) -> Conversation:
    """Return a conversation of turns: the tool, who answered, the model that was asked for, the level."""
    messages = [Message(role="system", content="s")]
    for tool, provider, requested, level in turns:
        messages.append(Message(role="user", content="q", tool=tool))
        reply = Message.of(role="assistant", content="a", provider=provider, requested_model=requested, preset=level)
        messages.append(reply)
    now = "2026-01-31T00:00:00.000Z"
    return Conversation.of(
        conversation_id=ID,
        created_at=now,
        updated_at=now,
        message_count=len(messages),
        messages=tuple(messages),
        **facts,
    )


TURNS = (
    ("search", "b", "b:y", None),
    ("deep_research_followup", "c", "c:z", None),
    ("chat", "b", "b:x", None),
)


def test_who_answered_last_comes_first() -> None:
    assert [one.provider for one in kept(conversation(*TURNS), "search", mode_of)] == ["b", "c"]


def test_the_model_is_that_of_the_last_question_of_the_kind_there() -> None:
    def first(mode: Mode) -> Kept:
        return kept(conversation(*TURNS), mode, mode_of)[0]

    assert first("search") == Kept("b", "b:y", "b:x", is_of_mode=True)
    assert first("chat") == Kept("b", "b:x", "b:x", is_of_mode=True)
    assert first("deep_research") == Kept("b", None, "b:x", is_of_mode=False)


def test_a_later_question_of_the_kind_that_took_the_default_counts() -> None:
    turns = (*TURNS, ("search_followup", "b", None, None))
    assert kept(conversation(*turns), "search", mode_of)[0] == Kept("b", None, "b:x", is_of_mode=True)


def test_a_level_counts_for_its_own_question_only() -> None:
    assert kept(conversation(("search", "p", "xhigh", "xhigh")), "search", mode_of) == (Kept("p", is_of_mode=True),)
    assert kept(conversation(("search", "local", "local", None)), "search", mode_of)[0].model == "local"


def test_where_nobody_answered_it_stays_with_whom_the_questions_went_to() -> None:
    left = PendingTurn(question="q", tool="chat", provider="custom", model="custom:m", status="failed")
    assert kept(conversation(pending_turn=left), "chat", mode_of) == (
        Kept("custom", "custom:m", "custom:m", is_of_mode=True),
    )
    answered = conversation(("chat", "ollama", "ollama:x", None), pending_turn=left)
    assert [one.provider for one in kept(answered, "chat", mode_of)] == ["ollama"]
