"""The output after an answer: sources, notices, cost, and how to follow up."""

import shlex
from collections.abc import Iterable, Mapping

from conversation_mcp.cli.output.terminal import is_terminal, put, say
from conversation_mcp.conversations.phrases import answered_by, charged, dotted
from conversation_mcp.records.models import Source
from conversation_mcp.records.modes import Mode
from conversation_mcp.text import one_line
from conversation_mcp.tooling.rendering.attachments import sent_summary
from conversation_mcp.tooling.rendering.turns import CITATION
from conversation_mcp.turns.kept import without_preset
from conversation_mcp.turns.result import TurnResult

HOW: Mapping[str, str] = {"chat": " --chat", "deep_research": " --deep"}
"""The option with which the command asks again in the same mode."""


def put_answer(result: TurnResult, shown: str, mode: Mode = "search") -> None:
    """Print what follows the text of an answer: reasoning, sources, related questions, notices and the last line.

    In a pipe, the last line goes to stderr, because it is not part of the answer.

    Args:
        result: the result of the question.
        shown: the text that was shown while the answer was written.
        mode: the mode of the question.
    """
    if result.reasoning:
        put(f"\nReasoning\n{result.reasoning}\n")
    for line in source_lines(result.search_results or (), result.raw_result_text or ""):
        put(line)
    # Some models write the related questions into the answer, too.
    if result.related_questions and not all(question in shown for question in result.related_questions):
        put("\n".join(("Related questions", *(f"  {question}" for question in result.related_questions))))
    for notice in result.notices or ():
        say(f"Notice: {notice}")
    if sent := sent_summary(result.files or (), result.images or ()):
        say(f"{sent}.")
    last = last_line(result, mode)
    if is_terminal():
        put(last)
    else:
        say(last)


def source_lines(sources: Iterable[Source], text: str) -> list[str]:
    """Return a line for each source; those that the text does not cite are marked."""
    cited = {int(number) for number in CITATION.findall(text)}
    rows = [(str(source.id), source.title or "", _place(source, cited)) for source in sources]
    width = max((len(number) for number, *_ in rows), default=0)
    return ["  ".join(("", number.rjust(width), *filter(None, map(one_line, texts)))) for number, *texts in rows]


def last_line(result: TurnResult, mode: Mode) -> str:
    """Return the last line: conversation, provider and model, cost, and the command to follow up."""
    facts = (
        result.conversation_id,
        answered_by(result.provider, result.preset, result.model_used),
        charged(result.usage),
        f"follow up with:  {_command(result, mode, 'last')}" if result.message_count is not None else "not saved",
    )
    return dotted(*facts)


def next_step(result: TurnResult, mode: Mode) -> str:
    """Return the next step for the JSON document, which has no last line."""
    return f"Follow up: {_command(result, mode, result.conversation_id)}"


def _command(result: TurnResult, mode: Mode, conversation: str) -> str:
    """Return the command that asks the same model the next question in the same mode."""
    model = without_preset(result.requested_model, result.preset)
    naming = f" --model {shlex.quote(model)}" if model else ""
    return f'conversation-mcp ask{HOW.get(mode, "")} -c {conversation}{naming} "…"'


def _place(source: Source, cited: set[int]) -> str:
    return source.place + ("" if source.id in cited else " (not cited)")
