"""Questions and answers from successive lines, including unanswered questions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from conversation_mcp.importing.base import LeftOut
from conversation_mcp.importing.formats.claude_code_records import Line
from conversation_mcp.importing.messages import joined, message, only_tools
from conversation_mcp.records.models import Message, PendingTurn, TurnError
from conversation_mcp.records.usage import Usage


@dataclass
class ClaudeCodeTurns:
    """The turns made of the lines."""

    messages: list[Message] = field(default_factory=list[Message])
    failed: list[PendingTurn] = field(default_factory=list[PendingTurn])
    """Unanswered questions that others follow."""
    unanswered: list[PendingTurn] = field(default_factory=list[PendingTurn])
    """Unanswered questions at the end."""


@dataclass
class _Asked:
    """A question that waits for its answer."""

    message: Message
    error: TurnError | None = None

    def turn(self) -> PendingTurn:
        """Return it as an unanswered question."""
        return PendingTurn.of(
            question=self.message.content,
            status="failed" if self.error else "interrupted",
            started_at=self.message.created_at,
            error=self.error,
            notices=self.message.notices,
        )


def turns_of(lines: Sequence[Line], left_out: Counter[LeftOut]) -> ClaudeCodeTurns:
    """Return the messages, joining lines of one answer that calls of tools separate.

    An error in place of an answer makes its question a failed one. After some text, it is a notice on that answer.
    """
    turns = ClaudeCodeTurns()
    waiting: list[_Asked] = []
    answer: list[Line] = []
    for line in lines:
        if line.role == "assistant":
            answer.append(line)
        elif line.speaks:
            waiting = _ended(answer, waiting, turns, left_out, is_followed=True)
            answer = []
            content = line.text or "\n".join(f"({notice})" for notice in line.notices)
            waiting.append(_Asked(message("user", content, line.at, notices=line.notices)))
    waiting = _ended(answer, waiting, turns, left_out)
    turns.unanswered += [asked.turn() for asked in waiting]
    return turns


def _ended(
    lines: Sequence[Line],
    waiting: list[_Asked],
    turns: ClaudeCodeTurns,
    left_out: Counter[LeftOut],
    *,
    is_followed: bool = False,
) -> list[_Asked]:
    """Add an answer, if the lines are one, and return the questions that still wait for theirs.

    Calls alone are an answer if another question follows; at the end, the work goes on.
    """
    errors = [line.error for line in lines if line.error]
    content = joined(line.text for line in lines)
    if content:
        turns.messages += [asked.message for asked in waiting if not asked.error]
        turns.failed += [asked.turn() for asked in waiting if asked.error]
        turns.messages.append(_answer(lines, content, errors))
        return []
    called = dict.fromkeys(name for line in lines for name in line.called)
    if is_followed and called and waiting and not errors:
        turns.messages += [asked.message for asked in waiting if not asked.error]
        turns.failed += [asked.turn() for asked in waiting if asked.error]
        turns.messages.append(only_tools(called, lines[-1].at))
        return []
    if errors and waiting and not waiting[-1].error:
        waiting[-1].error = errors[-1]
    elif errors:
        left_out["errors that answer nothing"] += len(errors)
    return waiting


def _answer(lines: Sequence[Line], content: str, errors: Sequence[TurnError]) -> Message:
    # Lines of one answer have the same id, and each repeats the usage.
    usage_of = {line.answer_id or number: line.usage for number, line in enumerate(lines)}
    tokens = {
        name: sum(usage.get(name, 0) for usage in usage_of.values())
        for name in ("input_tokens", "output_tokens")
        if any(name in usage for usage in usage_of.values())
    }
    told = [notice for line in lines for notice in line.notices]
    return message(
        "assistant",
        content,
        lines[-1].at,
        model=next((line.model for line in reversed(lines) if line.model), None),
        usage=Usage.told(**tokens),
        notices=(*told, *(f"a call failed meanwhile: {error.message}" for error in errors)),
        reasoning=joined(line.reasoning for line in lines),
    )
