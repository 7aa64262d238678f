"""The result of a turn, the same for every tool that asks."""

from typing import Literal

from conversation_mcp.conversations.expiry import Expiry
from conversation_mcp.providers.base import Answer
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.records.models import Conversation, Message, PendingTurn, Source
from conversation_mcp.records.record import Record
from conversation_mcp.records.usage import Usage

ResultStatus = Literal["completed", "incomplete", "running"]


class TurnResult(Record):
    """An answer and the facts about it, or the state of a turn that is still running."""

    conversation_id: str
    """The id for follow-ups and for the history."""
    status: ResultStatus
    """`incomplete`: cut by the provider. `running`: no answer yet, `nextStep` says how to get it."""
    raw_result_text: str | None = None
    """The answer, without any decoration."""
    search_results: tuple[Source, ...] | None = None
    """The sources of the answer; `id` is the number that `[n]` in the text refers to."""
    model_used: str | None = None
    """The model that answered."""
    requested_model: str | None = None
    """The model that was named or chosen; absent for the provider's default."""
    provider: str | None = None
    """The provider that answered."""
    preset: str | None = None
    """The provider's preset that was used."""
    response_id: str | None = None
    """The id of the run at the provider."""
    usage: Usage | None = None
    """Tokens and cost, as the provider reported them."""
    message_count: int | None = None
    """The number of messages in the conversation now; absent if the answer could not be saved."""
    turn: int | None = None
    """The number of answered questions in the conversation; absent if the answer could not be saved."""
    archived_after: str | None = None
    """When the conversation is archived if it is not used before; absent if it stays."""
    forgotten_after: str | None = None
    """When the conversation is forgotten, with all its messages, if it is not used before; absent if it stays."""
    related_questions: tuple[str, ...] | None = None
    """Present if they were requested."""
    reasoning: str | None = None
    """Hidden reasoning, if it was requested and there is any."""
    progress: str | None = None
    """What the provider is doing, if the turn is running."""
    elapsed_seconds: int | None = None
    """How long the turn has been running."""
    files: tuple[AttachedFile, ...] | None = None
    """The files that the question named: sent, unchanged, changed or skipped, and why."""
    images: tuple[AttachedImage, ...] | None = None
    """The images that the question named."""
    notices: tuple[str, ...] | None = None
    """Deviations from the request, cuts, a repeated call, an answer that is not saved."""
    next_step: str | None = None
    """The last sentence of the text: how to continue."""
    conversation_path: str | None = None
    """The absolute path of conversation.json."""


def answer_result(
    answer: Answer,
    *,
    conversation_id: str,
    provider: str | None,
    requested_model: str | None,
    path: str,
    saved: Conversation | None,
    asked: Message | PendingTurn | None = None,
    show_thinking: bool,
    expiry: Expiry | None = None,
    extra_notice: str | None = None,
) -> TurnResult:
    """Return the result of an answered turn.

    Args:
        answer: the answer.
        conversation_id: the conversation.
        provider: the provider that answered.
        requested_model: the model that was named or chosen.
        path: where the conversation is stored.
        saved: the conversation with the answer; None if it is not saved.
        asked: the question, which names what was sent along.
        show_thinking: whether to return the reasoning.
        expiry: when the conversation is put away.
        extra_notice: comes before the other notices.
    """
    notices = (*([extra_notice] if extra_notice else []), *answer.notices)
    return TurnResult.of(
        conversation_id=conversation_id,
        status="completed" if answer.finish_reason == "stop" else "incomplete",
        raw_result_text=answer.content,
        search_results=answer.sources or None,
        model_used=answer.model,
        requested_model=requested_model,
        provider=provider,
        preset=answer.preset,
        response_id=answer.response_id,
        usage=answer.usage,
        message_count=saved and saved.message_count,
        turn=saved and saved.turn_count,
        archived_after=expiry and expiry.archived_after,
        forgotten_after=expiry and expiry.forgotten_after,
        related_questions=answer.related_questions or None,
        reasoning=answer.reasoning if show_thinking else None,
        files=asked and asked.files,
        images=asked and asked.images,
        notices=notices or None,
        conversation_path=path,
    )
