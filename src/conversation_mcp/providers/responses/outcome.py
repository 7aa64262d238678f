"""The outcome of a run: an answer, or the error that says why there is none."""

from collections.abc import Sequence

from conversation_mcp.errors import (
    AnswerIncompleteError,
    ProviderError,
    ProviderUnavailableError,
    RunCancelledError,
)
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.responses.output import answer_text, calls_tools, reasoning_text, refusal
from conversation_mcp.providers.wire.errors import too_large
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import JsonObject, name_at, object_at, objects_at, raw_text_at, text_at
from conversation_mcp.providers.wire.problems import problem_in, short_cause
from conversation_mcp.providers.wire.related_questions import split_related
from conversation_mcp.providers.wire.sources import SourceCollector
from conversation_mcp.providers.wire.usage import billed, cut_notice, usage, with_usage
from conversation_mcp.providers.wire.visible_text import spoken
from conversation_mcp.records.usage import Usage

# No tool is given to a model that would need something to be done here, so nobody can take the action.
FAILED = frozenset({"failed", "requires_action"})
ENDED = frozenset({"completed", "incomplete", "cancelled"}) | FAILED
NO_RELATED = "Related questions were asked for; the provider gave none."


def has_ended(response: JsonObject) -> bool:
    """Tell whether nothing more will happen to this run."""
    return raw_text_at(response, "status") in ENDED


def settle(
    response: JsonObject, inquiry: Inquiry, *, streamed_text: str = "", seen: Sequence[JsonObject] = ()
) -> Answer:
    """Return the answer of a run that has ended; the parts of a stream fill the gaps of its last object.

    Raises:
        AnswerIncompleteError: the run ended without any text.
        RunCancelledError: the run was stopped.
        ProviderUnavailableError: the run failed.
    """
    used = usage(response)
    status = raw_text_at(response, "status")
    if status == "cancelled":
        raise with_usage(RunCancelledError(inquiry.title), used)
    if status in FAILED:
        raise with_usage(failure(response, inquiry), used)
    items = [*objects_at(response, "output"), *seen]
    reason = text_at(object_at(response, "incomplete_details"), "reason")
    # llama.cpp calls an answer complete even if it was cut at the limit.
    is_cut = status == "incomplete" or bool(reason) or _is_at_limit(used, inquiry)
    whole = answer_text(objects_at(response, "output")) or streamed_text
    text, thinking, remarks = spoken(whole, is_cut=is_cut)
    if not text.strip():
        raise with_usage(_without_text(response, items, inquiry, used), used)
    content, related = split_related(text) if inquiry.related is not False else (text, ())
    collector = SourceCollector()
    collector.take(*items, response)
    sources = collector.sources()
    notices = [*inquiry.notices, *remarks, *([cut_notice(reason, used)] if is_cut else [])]
    if inquiry.related and not related:
        notices.append(NO_RELATED)
    if inquiry.wants_sources and not sources:
        notices.append(f"{inquiry.title} named no sources; it may have answered without a search.")
    reasoning = (thinking, reasoning_text(objects_at(response, "output") or seen))
    return Answer(
        content=content,
        finish_reason="length" if is_cut else "stop",
        sources=sources,
        usage=used,
        model=name_at(response, "model") or inquiry.model,
        preset=inquiry.preset or text_at(response, "preset") or text_at(response, "effort") or None,
        response_id=name_at(response, "id") or None,
        reasoning="\n\n".join(part for part in reasoning if part) or None,
        related_questions=related,
        notices=tuple(notices),
    )


def failure(response: JsonObject, inquiry: Inquiry) -> ProviderError:
    """Return the error for a run that the provider gave up."""
    problem = problem_in(response, secret=inquiry.secret)
    if problem and problem.overflow is not None:
        return too_large(inquiry.title, problem)
    cause = short_cause(response, inquiry.secret) or text_at(response, "status")
    because = f": {cause}" if cause else ""
    return ProviderUnavailableError(f"{inquiry.title} could not finish the answer{because}.", maybe_billed=True)


def _is_at_limit(used: Usage | None, inquiry: Inquiry) -> bool:
    limit = inquiry.output_limit_tokens
    return limit is not None and used is not None and (used.output_tokens or 0) >= limit


def _without_text(
    response: JsonObject, items: Sequence[JsonObject], inquiry: Inquiry, used: Usage | None
) -> AnswerIncompleteError:
    if why := short_cause({"message": refusal(items)}, inquiry.secret):
        return AnswerIncompleteError(f"{inquiry.title} refused to answer: {why}{billed(used)}.")
    reason = text_at(object_at(response, "incomplete_details"), "reason")
    if raw_text_at(response, "status") == "incomplete" or reason:
        why = reason or "no reason given"
        return AnswerIncompleteError(f"{inquiry.title} stopped before it wrote any text: {why}{billed(used)}.")
    if calls_tools(items):
        return AnswerIncompleteError(f"{inquiry.title} called a tool that it does not have{billed(used)}.")
    if _is_at_limit(used, inquiry):
        return AnswerIncompleteError(f"{inquiry.title} reached its token limit before any text{billed(used)}.")
    return AnswerIncompleteError(f"{inquiry.title} answered without any text{billed(used)}.")
