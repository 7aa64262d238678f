"""What the next question of a conversation carries, as text."""

from collections.abc import Iterable

from conversation_mcp.conversations.phrases import dotted, noted, paragraphs
from conversation_mcp.text import dollars
from conversation_mcp.turns.preview import FileInContext, MessageInContext, ShownContext, SummaryInContext


def render_context(shown: ShownContext) -> str:
    """Return the sums, then a line for each message and each file."""
    window = f"window {shown.window_tokens:,}" if shown.window_tokens else "window unknown"
    return paragraphs(
        dotted(
            f"Conversation {shown.conversation_id}",
            shown.model or shown.provider,
            window,
            f"at most {shown.limit_tokens:,} are sent" if shown.limit_tokens else "",
        ),
        dotted(_sum(shown), dollars(shown.cost_usd)),
        noted(shown.notices),
        "\n".join(context_lines(shown)),
    )


def _sum(shown: ShownContext) -> str:
    estimate = f"about {shown.tokens:,} tokens before the next question"
    if shown.counted_tokens is None:
        return estimate
    return f"{shown.counted_tokens:,} tokens as {shown.provider} counts them, with the shortest question; {estimate}"


def context_lines(shown: ShownContext) -> Iterable[str]:
    """Yield a line for each summary and each message, and below a message one for each of its files."""
    yield from map(_summary, shown.summaries or ())
    for message in shown.messages:
        yield dotted(_name(message), f"{message.tokens:,} tokens" if message.is_sent else "left out")
        yield from (f"  {_file(file)}" for file in message.files or ())


def _summary(summary: SummaryInContext) -> str:
    where = f" of {summary.conversation_id}" if summary.conversation_id else ""
    name = f"summary in place of messages {summary.first_message} to {summary.last_message}{where}"
    return dotted(name, f"{summary.tokens:,} tokens, counted in the first message that is sent")


def _name(message: MessageInContext) -> str:
    number = f"#{message.number} " if message.number else ""
    earlier = f" of {message.conversation_id}" if message.conversation_id else ""
    return f"{number}{message.role}{earlier}"


def _file(file: FileInContext) -> str:
    return dotted(file.path, "as PDF" if file.as_pdf else file.sent, file.reason or f"{file.tokens:,} tokens")
