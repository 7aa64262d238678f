"""What a turn gives back, the same for every tool that asks."""

from typing import Literal

from conversation_mcp.models import Conversation, Record, Source, Usage
from conversation_mcp.providers.base import Answer

ResultStatus = Literal["completed", "incomplete", "running"]


class TurnResult(Record):
    """An answer and the facts about it, or the news that it is still on its way."""

    conversation_id: str
    status: ResultStatus
    raw_result_text: str | None = None
    search_results: tuple[Source, ...] | None = None
    model_used: str | None = None
    provider: str | None = None
    preset: str | None = None
    response_id: str | None = None
    usage: Usage | None = None
    message_count: int | None = None
    turn: int | None = None
    related_questions: tuple[str, ...] | None = None
    reasoning: str | None = None
    progress: str | None = None
    elapsed_seconds: int | None = None
    notices: tuple[str, ...] | None = None
    next_step: str | None = None
    conversation_path: str | None = None


def answer_result(
    answer: Answer,
    *,
    conversation_id: str,
    provider: str | None,
    path: str,
    saved: Conversation | None,
    show_thinking: bool,
    extra_notice: str | None = None,
) -> TurnResult:
    """Return the result of a turn that has its answer; `saved` is the conversation that holds it, if one does."""
    notices = (*([extra_notice] if extra_notice else []), *answer.notices)
    return TurnResult.of(
        conversation_id=conversation_id,
        status="completed" if answer.finish_reason == "stop" else "incomplete",
        raw_result_text=answer.content,
        search_results=answer.sources or None,
        model_used=answer.model,
        provider=provider,
        preset=answer.preset,
        response_id=answer.response_id,
        usage=answer.usage,
        message_count=saved and saved.message_count,
        turn=saved and saved.turn_count,
        related_questions=answer.related_questions or None,
        reasoning=answer.reasoning if show_thinking else None,
        notices=notices or None,
        conversation_path=path,
    )
