"""What a run that has ended comes to: an answer, or the error that tells why there is none."""

from collections.abc import Sequence

from conversation_mcp.errors import AnswerIncompleteError, ProviderError, ProviderUnavailableError, RunCancelledError
from conversation_mcp.models import Usage
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.perplexity.errors import short_cause
from conversation_mcp.providers.perplexity.facts import PROVIDER
from conversation_mcp.providers.perplexity.output import answer_text, refusal, sources, usage
from conversation_mcp.providers.perplexity.related import split_related
from conversation_mcp.providers.perplexity.request import Asked
from conversation_mcp.providers.wire.reading import JsonObject, object_at, objects_at, text_at
from conversation_mcp.text import dollars, split_thinking

FAILED = frozenset({"failed", "requires_action"})
ENDED = frozenset({"completed", "incomplete", "cancelled"}) | FAILED
NO_RELATED = "Related questions were asked for; the provider gave none."


def has_ended(response: JsonObject) -> bool:
    """Tell whether nothing more will happen to this run."""
    return response.get("status") in ENDED


def settle(response: JsonObject, asked: Asked, *, streamed_text: str = "", seen: Sequence[JsonObject] = ()) -> Answer:
    """Return the answer of a run that has ended; what the stream brought fills what the last object lacks.

    Raises:
        AnswerIncompleteError: it ended without any text.
        RunCancelledError: it was stopped.
        ProviderUnavailableError: it failed.
    """
    used = usage(response)
    status = response.get("status")
    if status == "cancelled":
        raise with_usage(RunCancelledError(PROVIDER), used)
    if status in FAILED:
        raise with_usage(failure(response), used)
    items = [*objects_at(response, "output"), *seen]
    text, reasoning = split_thinking(answer_text(objects_at(response, "output")) or streamed_text)
    if not text.strip():
        raise with_usage(_without_text(response, items, used), used)
    content, related = split_related(text) if asked.related is not False else (text, ())
    cut = status == "incomplete" or bool(_cut_reason(response))
    notices = [*asked.notices, *([_cut_notice(response, used)] if cut else [])]
    if asked.related and not related:
        notices.append(NO_RELATED)
    return Answer(
        content=content,
        finish_reason="length" if cut else "stop",
        sources=sources(items, response),
        usage=used,
        model=text_at(response, "model") or asked.model,
        preset=asked.preset or text_at(response, "preset") or text_at(response, "effort") or None,
        response_id=text_at(response, "id") or None,
        reasoning=reasoning or None,
        related_questions=related,
        notices=tuple(notices),
    )


def failure(response: JsonObject) -> ProviderUnavailableError:
    """Return the error for a run that the provider itself gave up."""
    cause = short_cause(response) or text_at(response, "status")
    return ProviderUnavailableError(f"{PROVIDER} could not finish the answer: {cause}.", maybe_billed=True)


def with_usage(error: ProviderError, used: Usage | None) -> ProviderError:
    """Note on the error what was charged all the same."""
    if used:
        error.usage = used.data()
    return error


def _cut_reason(response: JsonObject) -> str:
    return text_at(object_at(response, "incomplete_details"), "reason")


def _cut_notice(response: JsonObject, used: Usage | None) -> str:
    reason = _cut_reason(response)
    where = "at the provider's token limit" if reason in {"", "max_output_tokens"} else f"by the provider ({reason})"
    return f"the answer was cut {where}{_billed(used)}. Ask it to continue."


def _without_text(response: JsonObject, items: Sequence[JsonObject], used: Usage | None) -> AnswerIncompleteError:
    if why := short_cause({"message": refusal(items)}):
        return AnswerIncompleteError(f"{PROVIDER} refused to answer: {why}{_billed(used)}.")
    if response.get("status") == "completed":
        return AnswerIncompleteError(f"{PROVIDER} answered without any text{_billed(used)}.")
    reason = _cut_reason(response) or "no reason given"
    return AnswerIncompleteError(f"{PROVIDER} stopped before it wrote any text: {reason}{_billed(used)}.")


def _billed(used: Usage | None) -> str:
    if used is None or used.cost_usd is None:
        return ""
    return f" (billed {dollars(used.cost_usd)})"
