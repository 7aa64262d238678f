"""What a turn gives back, the same for every tool that asks."""

from typing import Literal

from conversation_mcp.providers.base import Answer
from conversation_mcp.records.models import Conversation, Record, Source, Usage

ResultStatus = Literal["completed", "incomplete", "running"]


class TurnResult(Record):
    """An answer and the facts about it, or the news that it is still on its way."""

    conversation_id: str
    """Id for follow-ups and for the history."""
    status: ResultStatus
    """`incomplete`: cut by the provider. `running`: still on its way, `nextStep` says how to get it."""
    raw_result_text: str | None = None
    """The answer, without any decoration."""
    search_results: tuple[Source, ...] | None = None
    """What the answer rests on; `id` is the number that `[n]` in the text refers to."""
    model_used: str | None = None
    """The model that answered."""
    requested_model: str | None = None
    """The model that was named or chosen; absent when nobody named one."""
    provider: str | None = None
    """Who answered."""
    preset: str | None = None
    """The provider's preset that was asked for."""
    response_id: str | None = None
    """The id of the run at the provider."""
    usage: Usage | None = None
    """Tokens and cost, as the provider reported them."""
    message_count: int | None = None
    """How many messages the conversation has now; absent when the answer could not be saved."""
    turn: int | None = None
    """How many questions of the conversation are answered; absent when the answer could not be saved."""
    related_questions: tuple[str, ...] | None = None
    """If they were asked for."""
    reasoning: str | None = None
    """Hidden reasoning, if it was asked for and there is any."""
    progress: str | None = None
    """What the provider is doing, of a running turn."""
    elapsed_seconds: int | None = None
    """How long the turn has been running."""
    notices: tuple[str, ...] | None = None
    """What was not done as asked, cuts, a repeated call, an answer that is not saved."""
    next_step: str | None = None
    """The sentence that ends the text: how to go on."""
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
        requested_model=requested_model,
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
