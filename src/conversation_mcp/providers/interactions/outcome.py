"""The outcome of an interaction: an answer, or the error that says why there is none."""

import re
from collections.abc import Sequence
from urllib.parse import quote_plus

from conversation_mcp.errors import AnswerIncompleteError, ProviderError, ProviderUnavailableError, RunCancelledError
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.interactions.citations import cited
from conversation_mcp.providers.interactions.steps import (
    answer_parts,
    calls_tools,
    pages,
    queries,
    thoughts,
    trouble,
)
from conversation_mcp.providers.interactions.usage import usage
from conversation_mcp.providers.wire.errors import too_large
from conversation_mcp.providers.wire.inquiry import Inquiry
from conversation_mcp.providers.wire.json_values import JsonObject, name_at, objects_at, raw_text_at
from conversation_mcp.providers.wire.problems import problem_in, short_cause
from conversation_mcp.providers.wire.usage import billed, cut_notice, with_usage
from conversation_mcp.providers.wire.visible_text import spoken
from conversation_mcp.records.usage import Usage

CUT = {"incomplete": "", "requires_continuation": "", "budget_exceeded": "budget_exceeded"}
"""The statuses of an answer that was cut, each with the reason beyond the limit of its length."""
# A run that requires an action or is idle does not go on by itself.
ENDED = frozenset({"completed", "failed", "cancelled", "requires_action", "idle", *CUT})
BLOCKED = re.compile(
    r"safety|prohibited|block(?:ed|list)|\bspii\b|recitation|content[ _](?:policy|filter)|\blanguage\b|escalation",
    re.IGNORECASE,
)
"""The signs of an answer that was withheld for what it says."""
MAX_QUERIES = 5


def has_ended(run: JsonObject) -> bool:
    """Tell whether nothing more will happen to this run."""
    return raw_text_at(run, "status") in ENDED


def settle(run: JsonObject, inquiry: Inquiry, *, seen: Sequence[JsonObject] = ()) -> Answer:
    """Return the answer of a run that has ended; `seen` are its steps, where they came on a stream.

    Raises:
        AnswerIncompleteError: the run ended without any text.
        RunCancelledError: the run was stopped.
        ProviderUnavailableError: the run failed.
    """
    used = usage(run)
    status = raw_text_at(run, "status")
    steps = objects_at(run, "steps") or list(seen)
    if status == "cancelled":
        raise with_usage(RunCancelledError(inquiry.title), used)
    cause = _cause(trouble(run, steps), inquiry)
    is_blocked = BLOCKED.search(cause) is not None
    if status == "failed" and not is_blocked:
        raise with_usage(_failure(run, steps, inquiry), used)
    is_cut = status in CUT or bool(cause)
    content, sources = cited(answer_parts(steps), pages(steps))
    text, thinking, remarks = spoken(content, is_cut=is_cut)
    reason = CUT.get(status) or cause
    if not text.strip():
        raise with_usage(_without_text(status, reason, steps, inquiry, used, is_blocked=is_blocked), used)
    notices = [*inquiry.notices, *remarks, *([cut_notice(reason, used)] if is_cut else [])]
    if searched := queries(steps):
        notices.append(_searched(searched))
    if inquiry.wants_sources and not sources:
        notices.append(f"{inquiry.title} named no sources; it may have answered without a search.")
    return Answer(
        content=text,
        finish_reason="length" if is_cut else "stop",
        sources=sources,
        usage=used,
        model=_model(run) or inquiry.model,
        response_id=name_at(run, "id") or None,
        reasoning="\n\n".join(filter(None, (thinking, thoughts(steps)))) or None,
        notices=tuple(notices),
    )


def _model(run: JsonObject) -> str:
    return (name_at(run, "model") or name_at(run, "agent")).removeprefix("models/")


def _cause(error: JsonObject, inquiry: Inquiry) -> str:
    """Return the reason in an error, with its code if that is a word that the reason lacks."""
    said, code = short_cause(error, inquiry.secret), name_at(error, "code")
    return said if not code or code.casefold() in said.casefold() else f"{code}: {said}" if said else code


def _searched(searched: list[str]) -> str:
    """Return the notice that leads to the searches at Google, which its terms ask for."""
    links = [f"https://www.google.com/search?q={quote_plus(query)}" for query in searched[:MAX_QUERIES]]
    return f"the answer rests on searches at Google: {' '.join(links)}"


def _failure(run: JsonObject, steps: Sequence[JsonObject], inquiry: Inquiry) -> ProviderError:
    error = trouble(run, steps)
    problem = problem_in({"error": error}, secret=inquiry.secret) if error else None
    if problem and problem.overflow is not None:
        return too_large(inquiry.title, problem)
    because = f": {cause}" if (cause := _cause(error, inquiry)) else ""
    return ProviderUnavailableError(f"{inquiry.title} could not finish the answer{because}.", maybe_billed=True)


def _without_text(
    status: str, reason: str, steps: Sequence[JsonObject], inquiry: Inquiry, used: Usage | None, *, is_blocked: bool
) -> AnswerIncompleteError:
    title, paid = inquiry.title, billed(used)
    if is_blocked:
        return AnswerIncompleteError(f"{title} blocked the answer: {reason}{paid}.")
    if status in CUT and not reason:
        thinking = " while thinking" if used and used.reasoning_tokens else ""
        return AnswerIncompleteError(f"{title} reached its token limit{thinking} before it wrote any text{paid}.")
    if reason:
        return AnswerIncompleteError(f"{title} stopped before it wrote any text: {reason}{paid}.")
    if status == "requires_action" or calls_tools(steps):
        return AnswerIncompleteError(f"{title} called a tool that it does not have{paid}.")
    return AnswerIncompleteError(f"{title} answered without any text{paid}.")
