"""The outcome of a message that has ended: an answer, or the error that says why there is none."""

from conversation_mcp.errors import AnswerIncompleteError, ProviderError
from conversation_mcp.providers.base import Answer
from conversation_mcp.providers.messages.reader import PAUSED, MessageReader
from conversation_mcp.providers.messages.request import MessageDraft
from conversation_mcp.providers.wire.problems import short_cause
from conversation_mcp.providers.wire.usage import cut_notice, with_usage
from conversation_mcp.providers.wire.visible_text import spoken

# As often as the maker advises to go on.
MAX_PAUSES = 5
REFUSED = "refusal"
CUT = {
    "max_tokens": "",
    "model_context_window_exceeded": "the window of the model is full",
    PAUSED: f"it paused more than {MAX_PAUSES} times",
}
"""The reasons of an end within an answer, in words; the provider's limit needs none."""
ENDS = frozenset({"end_turn", "stop_sequence", "tool_use", *CUT, REFUSED})
UNCALLED = "The model also wanted to call a tool; that was not done."
NOT_CHARGED = "Nothing was billed: it refused before it wrote anything."
CHARGED = "What it read and wrote until then is billed. Ask in other words: the same question is refused again."


def is_cut(reader: MessageReader) -> bool:
    """Tell whether the answer ended before it was complete."""
    return reader.stop_reason in CUT


def settle(reader: MessageReader, put: MessageDraft, title: str, notices: tuple[str, ...], secret: str = "") -> Answer:
    """Return the answer of a message that has ended.

    Raises:
        AnswerIncompleteError: it was refused, or has no text.
    """
    if reader.stop_reason == REFUSED:
        raise _refused(reader, title, secret)
    usage, sources = reader.spending.usage, reader.citations.sources()
    text, thoughts, remarks = spoken(reader.text, is_cut=is_cut(reader))
    if not text.strip():
        raise with_usage(_without_text(reader, title), usage)
    told = [*notices, *remarks]
    if is_cut(reader):
        told.append(cut_notice(CUT[reader.stop_reason], usage))
    elif reader.stop_reason not in ENDS:
        told.append(f"{title} ended the answer for a reason that is not known here ({reader.stop_reason[:40]}).")
    if reader.wants_tool:
        told.append(UNCALLED)
    if failures := reader.citations.failures:
        told.append(f"{len(failures)} of its searches failed ({', '.join(dict.fromkeys(failures))}).")
    if put.searches and not sources:
        told.append(f"{title} named no sources; it may have answered without a search.")
    return Answer(
        content=text,
        finish_reason="length" if is_cut(reader) else "stop",
        sources=sources,
        usage=usage,
        model=reader.facts.get("model", put.model),
        response_id=reader.facts.get("id"),
        reasoning="\n\n".join(filter(None, [reader.reasoning, thoughts])) or None,
        notices=tuple(told),
    )


def _refused(reader: MessageReader, title: str, secret: str) -> ProviderError:
    """Return the error for a refusal; one before any text is not billed, although it comes with a usage."""
    details = reader.stop_details
    why = short_cause({"message": details.get("explanation")}, secret)
    reason = ": ".join(filter(None, [short_cause({"message": details.get("category")}, secret), why]))
    error = AnswerIncompleteError(f"{title} refused to answer{f' ({reason})' if reason else ''}.")
    if not reader.sendable():
        error.advice = f"{NOT_CHARGED} Ask in other words."
        return error
    error.advice = CHARGED
    return with_usage(error, reader.spending.usage)


def _without_text(reader: MessageReader, title: str) -> AnswerIncompleteError:
    if reader.stop_reason == "max_tokens":
        return AnswerIncompleteError(f"{title} reached the limit of the answer before it wrote any text.")
    if is_cut(reader):
        return AnswerIncompleteError(f"{title} wrote no text: {CUT[reader.stop_reason]}.")
    if reader.wants_tool:
        return AnswerIncompleteError(f"{title} wanted to call a tool and wrote no text.")
    return AnswerIncompleteError(f"{title} answered without any text. Asking the same again gives nothing again.")
