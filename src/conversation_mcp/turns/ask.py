"""A question, its caller, and the place where the question is stored."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.modes import Mode
from conversation_mcp.records.options import NO_OPTIONS, Options

Report = Callable[[str], Awaitable[None]]
Note = Callable[[], Awaitable[None]]
"""Records that a result was delivered."""
GetRoots = Callable[[], Awaitable[Sequence[Path]]]
"""Returns the folders and single files below which the caller lets files be read; none if the caller names none."""
OnText = Callable[[str, bool], None]
"""Receives each piece of the answer's text, and whether it replaces everything before it; must not block or raise."""


class Seat(NamedTuple):
    """One model that a consensus asks, and the side that it takes."""

    model: str
    stance: str = "neutral"
    stance_prompt: str | None = None


class Ask(NamedTuple):
    """One question, as a tool received it. `preset` applies when no model is named."""

    tool: str
    mode: Mode
    question: str
    preset: str
    model: str | None = None
    options: Options = NO_OPTIONS
    show_thinking: bool = False
    system: str | None = None
    """Replaces the usual system text if the question opens a conversation."""
    role: str | None = None
    """Is sent in place of the conversation's system text with this question, and stored nowhere."""
    files: tuple[str, ...] = ()
    """Paths, folders and patterns of files to send along, as they were given."""
    images: tuple[str, ...] = ()
    """Paths of images to send along, as they were given."""
    continue_from: str | None = None
    """The conversation that a new one continues."""
    seats: tuple[Seat, ...] = ()
    """Of a consensus: the models that are asked side by side."""
    synthesis: str | None = None
    """Of a consensus: the model that sums up the verdicts."""
    question_name: str = "query"
    """The name of the tool's argument that holds the question."""

    def stored_options(self) -> dict[str, JsonValue] | None:
        """Return the options as they are stored in the file; None when none was given."""
        return self.options.model_dump(mode="json", exclude_none=True) or None

    def key(
        self,
        owner: str,
        conversation_id: ConversationId | None,
        pipe: bytes | None = None,
        handed: Mapping[str, bytes] | None = None,
    ) -> str:
        """Return the name of this call: the same for the same owner, tool, conversation, arguments and contents."""
        call = [owner, self.tool, conversation_id, self.question, self.model, self.stored_options(), self.show_thinking]
        call += [self.system] if self.system else []
        # Names are kept on disk and shared by servers of different versions, so a new part is added only if given.
        piped = None if pipe is None else hashlib.sha256(pipe).hexdigest()
        parts: dict[str, object] = {"files": self.files, "images": self.images, "continueFrom": self.continue_from}
        parts["pipe"] = piped
        parts["handed"] = {name: hashlib.sha256(data).hexdigest() for name, data in (handed or {}).items()}
        seats = [[seat.model, seat.stance, seat.stance_prompt] for seat in self.seats]
        parts |= {"seats": seats, "synthesis": self.synthesis, "role": self.role}
        call += [given] if (given := {name: value for name, value in parts.items() if value}) else []
        return hashlib.sha256(json.dumps(call, sort_keys=True).encode()).hexdigest()


async def _silent(text: str) -> None:
    """Drop the progress report."""


async def _no_roots() -> Sequence[Path]:
    """Name no roots."""
    return ()


def _nobody(owner: str) -> bool:
    """Allow to act for nobody else."""
    del owner
    return False


async def _stays() -> bool:
    """Tell that the asker is there."""
    return False


async def _at_once(note: Note) -> None:
    """Count a result as delivered as soon as it exists."""
    await note()


class QuestionPlace(NamedTuple):
    """Where a question is stored; any process can find the answer by it, at any later time."""

    conversation_id: ConversationId
    started_at: str
    key: str
    show_thinking: bool = False


class Caller(NamedTuple):
    """The asker: where progress is reported, and how many seconds it waits for the answer at most."""

    wait_seconds: float
    report: Report = _silent
    owner: str = "local"
    may_act_for: Callable[[str], bool] = _nobody
    """Tells for which other owners it may work; not for whom it works now."""
    on_asked: Callable[[QuestionPlace], None] | None = None
    """If given, the caller leaves as soon as the question is on disk, and learns here where the answer will be."""
    on_text: OnText | None = None
    on_result: Callable[[Note], Awaitable[None]] = _at_once
    """Receives the step to run once the asker has the result."""
    is_gone: Callable[[], Awaitable[bool]] = _stays
    """Tells whether the asker is known to be gone, so that no answer can reach it over this call."""
    system: str | None = None
    """The system text of a conversation that this call opens."""
    files: tuple[str, ...] = ()
    """Files to send along with the question, whichever tool asks it, as in `Ask.files`; `-` is the pipe."""
    images: tuple[str, ...] = ()
    """Images to send along, as in `Ask.images`."""
    pipe: bytes | None = None
    """What came through the pipe that `files` names."""
    handed: Mapping[str, bytes] | None = None
    """The contents of the files and images that the call names, if it brings them; nothing is read from disk then."""
    roots: GetRoots = _no_roots
    """Called only if files or images are to be read."""
