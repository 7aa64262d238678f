"""What is asked, by whom, and how long the asker waits."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from pydantic import JsonValue

from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.options import Options

Report = Callable[[str], Awaitable[None]]
Note = Callable[[], Awaitable[None]]
"""Writes down that a result was delivered."""
OnText = Callable[[str, bool], None]
"""Told each piece of the answer's text, and whether it replaces all that came before; must not block or raise."""


@dataclass(frozen=True)
class Ask:
    """One question as a tool takes it. `preset` applies when no model is named."""

    tool: str
    mode: Mode
    question: str
    preset: str
    model: str | None = None
    options: Options = field(default_factory=Options)
    show_thinking: bool = False
    system: str | None = None
    """The system text of a conversation that it opens, in place of the usual one."""
    question_name: str = "query"
    """What the tool calls its question."""

    def stored_options(self) -> dict[str, JsonValue] | None:
        """Return what was asked for beside the text, as it stands in the file; None when nothing was."""
        return self.options.model_dump(mode="json", exclude_none=True) or None

    def key(self, owner: str, conversation_id: ConversationId | None) -> str:
        """Return the name of this very call: the same for the same owner, tool, conversation and arguments."""
        call = [owner, self.tool, conversation_id, self.question, self.model, self.stored_options(), self.show_thinking]
        call += [self.system] if self.system else []
        return hashlib.sha256(json.dumps(call, sort_keys=True).encode()).hexdigest()


async def _silent(text: str) -> None:
    """Report to nobody."""


async def _at_once(note: Note) -> None:
    """Take a result for delivered as soon as it is there."""
    await note()


@dataclass(frozen=True)
class QuestionPlace:
    """Where a question stands on disk: by it any process finds its answer, at any later time."""

    conversation_id: ConversationId
    started_at: str
    key: str
    show_thinking: bool = False


@dataclass(frozen=True)
class Caller:
    """Who asks: where progress goes, and for how many seconds at most the answer is waited for."""

    wait_seconds: float
    report: Report = _silent
    owner: str = "local"
    on_asked: Callable[[QuestionPlace], None] | None = None
    """Of a caller who leaves as soon as the question is on disk: told where the answer will be."""
    on_text: OnText | None = None
    on_result: Callable[[Note], Awaitable[None]] = _at_once
    """Takes what is to be done once the result is in the asker's hands."""
    system: str | None = None
    """The system text of a conversation that this call opens."""
