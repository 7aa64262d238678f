"""Which model a follow-up keeps."""

from tests.fixtures.folders import ID

from conversation_mcp.models import Conversation, Message
from conversation_mcp.providers.base import Mode
from conversation_mcp.turns.kept import kept_model


def conversation(*turns: tuple[str, str | None, str | None]) -> Conversation:
    """Return a conversation of turns: the tool, the model that was asked for, the level."""
    messages = [Message(role="system", content="s")]
    for tool, requested, level in turns:
        messages.append(Message(role="user", content="q", tool=tool))
        messages.append(Message.of(role="assistant", content="a", requested_model=requested, preset=level))
    now = "2026-01-31T00:00:00.000Z"
    return Conversation(
        conversation_id=ID, created_at=now, updated_at=now, message_count=len(messages), messages=tuple(messages)
    )


def kept(mode: Mode, *turns: tuple[str, str | None, str | None]) -> str | None:
    return kept_model(conversation(*turns), mode)


def test_the_last_turn_of_the_kind_counts_and_start_and_follow_up_are_one_kind() -> None:
    turns = [
        ("chat", "a:x", None),
        ("search", "b:y", None),
        ("deep_research_followup", "c:z", None),
        ("list", "d", None),
    ]
    assert [kept(mode, *turns) for mode in ("search", "deep_research", "chat")] == ["b:y", "c:z", "a:x"]
    assert kept("search", *turns, ("search_followup", None, "low")) is None
    assert kept("chat") is None


def test_a_level_counts_for_its_own_question_only() -> None:
    assert kept("search", ("search", "xhigh", "xhigh")) is None
    assert kept("search", ("search", "local", None)) == "local"
