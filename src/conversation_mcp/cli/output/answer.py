"""How an answer reads in a terminal and in a pipe."""

import shlex
from collections.abc import Iterable, Mapping

from conversation_mcp.cli.output.terminal import is_terminal, put, say
from conversation_mcp.conversations.phrases import answered_by, dotted
from conversation_mcp.records.models import Source
from conversation_mcp.records.modes import Mode
from conversation_mcp.text import dollars, one_line
from conversation_mcp.tooling.rendering.turns import CITATION
from conversation_mcp.turns.kept import without_preset
from conversation_mcp.turns.result import TurnResult

HOW: Mapping[str, str] = {"chat": " --chat", "deep_research": " --deep"}
"""How the command asks again in the same way."""


def put_answer(result: TurnResult, shown: str, mode: Mode = "search") -> None:
    """Print what goes with the text of the answer: its sources, and where it is kept.

    In a pipe the last line, which is no part of the answer, goes to stderr.

    Args:
        result: what became of the question.
        shown: what the reader saw while the answer was written.
        mode: how it was asked.
    """
    if result.reasoning:
        put(f"\nReasoning\n{result.reasoning}\n")
    for line in source_lines(result.search_results or (), result.raw_result_text or ""):
        put(line)
    if result.related_questions and not all(question in shown for question in result.related_questions):
        put("\n".join(("Related questions", *(f"  {question}" for question in result.related_questions))))
    for notice in result.notices or ():
        say(f"Notice: {notice}")
    last = last_line(result, mode)
    if is_terminal():
        put(last)
    else:
        say(last)


def source_lines(sources: Iterable[Source], text: str) -> list[str]:
    """Return a line for each source; one that the text does not cite says so."""
    cited = {int(number) for number in CITATION.findall(text)}
    rows = [(str(source.id), source.title or "", _place(source, cited)) for source in sources]
    width = max((len(number) for number, *_ in rows), default=0)
    return ["  ".join(("", number.rjust(width), *filter(None, map(one_line, texts)))) for number, *texts in rows]


def last_line(result: TurnResult, mode: Mode) -> str:
    """Return where the answer is kept, by whom it is, what it cost and how to go on."""
    cost = result.usage.cost_usd if result.usage else None
    facts = (
        result.conversation_id,
        answered_by(result.provider, result.preset, result.model_used),
        dollars(cost),
        f"follow up with:  {_command(result, mode, 'last')}" if result.message_count is not None else "not saved",
    )
    return dotted(*facts)


def next_step(result: TurnResult, mode: Mode) -> str:
    """Return how to go on, for whoever reads the record and not the last line."""
    return f"Follow up: {_command(result, mode, result.conversation_id)}"


def _command(result: TurnResult, mode: Mode, conversation: str) -> str:
    """Return the command that puts the next question to the same model in the same way."""
    model = without_preset(result.requested_model, result.preset)
    naming = f" --model {shlex.quote(model)}" if model else ""
    return f'conversation-mcp ask{HOW.get(mode, "")} -c {conversation}{naming} "…"'


def _place(source: Source, cited: set[int]) -> str:
    return source.place + ("" if source.id in cited else " (not cited)")
