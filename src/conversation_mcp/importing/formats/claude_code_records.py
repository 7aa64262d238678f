"""The words of a record in Claude Code's logs and their author, which the type of a record alone does not tell."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from conversation_mcp.importing.base import LeftOut, ReadOptions
from conversation_mcp.importing.messages import (
    Data,
    count_named,
    joined,
    list_of,
    missing,
    name_of,
    object_of,
    text_of,
    texts_of,
)
from conversation_mcp.records.models import TurnError

SPOKEN = frozenset({"user", "assistant"})
HIDING = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
PEOPLE = frozenset({None, "human", "user"})
"""The values of `origin` for words that a person wrote."""
SYNTHETIC = "<synthetic>"
"""The model that is named in answers of the program itself."""
NO_ANSWERS = frozenset({"No response requested.", "(no content)"})
INTERRUPTION = re.compile(r"\[Request interrupted by user[^\]\n]{0,40}\]")
PROGRAM_TAGS = (
    "bash-input", "bash-stderr", "bash-stdout", "command-args", "command-contents", "command-message", "command-name",
    "ide_diagnostics", "ide_opened_file", "ide_selection", "local-command-caveat", "local-command-stderr",
    "local-command-stdout", "new-diagnostics", "post-tool-use-hook", "session-start-hook", "system-reminder",
    "task-notification", "teammate-message", "user-memory-input", "user-prompt-submit-hook",
)  # fmt: skip
"""Tags in which the program adds its own texts to the words of a user."""
ELEMENT = re.compile(rf"\s*<({'|'.join(PROGRAM_TAGS)})(?:\s[^<>]*)?>")
LAST_TAG = re.compile(rf"</({'|'.join(PROGRAM_TAGS)})>\s*\Z")
ENVELOPE = frozenset({
    "cwd", "gitBranch", "version", "timestamp", "slug", "userType", "entrypoint", "level", "snapshot", "hookInfos",
    "toolUseResult", "type", "subtype",
})  # fmt: skip
"""Fields of a record that hold nobody's words."""
TOOL_BLOCK = re.compile(r"(?:\w+_)?tool_(?:use|result)")
ERRORS = {
    "rate_limit": "PROVIDER_RATE_LIMITED", "authentication_failed": "PROVIDER_AUTH", "billing_error": "PROVIDER_QUOTA",
    "invalid_request": "PROVIDER_REJECTED", 401: "PROVIDER_AUTH", 402: "PROVIDER_QUOTA", 413: "CONTEXT_TOO_LARGE",
    429: "PROVIDER_RATE_LIMITED",
}  # fmt: skip
"""Our codes for failures, by the program's name or the HTTP status."""


@dataclass
class Line:
    """The parts of a record that are kept. The results of tools, which are most of a log, are not."""

    role: str = ""
    """The author of the words; empty if there are none."""
    text: str = ""
    reasoning: str = ""
    at: datetime | None = None
    model: str | None = None
    answer_id: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict[str, int])
    notices: tuple[str, ...] = ()
    error: TurnError | None = None
    """The error in place of an answer."""

    @property
    def speaks(self) -> bool:
        """Tell whether there is anything to show."""
        return bool(self.text.strip() or self.notices)


def kind_of(record: Data) -> str:
    """Return the name of a kind of record, with its subtype."""
    kind = name_of(record.get("type")) or "without a type"
    inner = record if kind == "system" else object_of(record.get("attachment") or record.get("data"))
    detail = name_of(inner.get("subtype" if kind == "system" else "type"))
    return f"{kind} {detail}" if detail else kind


def line_of(record: Data, reading: ReadOptions, left_out: Counter[LeftOut]) -> Line:
    """Return the words of a record, and count what is left out of it."""
    kind = name_of(record.get("type")) or ""
    queued = object_of(record.get("attachment"))
    if kind == "attachment" and name_of(queued.get("type")) == "queued_command":
        return _asked(queued.get("prompt"), _origin_of(queued), record, reading, left_out)
    said = object_of(record.get("message"))
    if kind not in SPOKEN:
        count_named(kind_of(record), record, left_out, ENVELOPE)
        return Line()
    if any(record.get(flag) is True for flag in HIDING):
        left_out["hidden messages"] += bool(joined(texts_of(said.get("content"))))
        return Line()
    if (name_of(said.get("role")) or kind) == "user":
        return _asked(said.get("content"), _origin_of(record), record, reading, left_out)
    return _answered(said, record, reading, left_out)


def _origin_of(record: Data) -> str | None:
    """Return which part of the program wrote the words; None for a person."""
    origin = name_of(object_of(record.get("origin")).get("kind"))
    mode = name_of(record.get("commandMode"))
    return origin if origin not in PEOPLE else mode if mode not in {None, "prompt"} else None


def _asked(content: object, origin: str | None, record: Data, reading: ReadOptions, left_out: Counter[LeftOut]) -> Line:
    notices = _beside_the_text(content, left_out)
    if origin is not None:
        count_named(origin, {"content": [*texts_of(content)]}, left_out)
        return Line()
    text = joined(_of_a_person(text, left_out) for text in texts_of(content))
    return Line("user", text, at=reading.moment(record.get("timestamp")), notices=notices)


def _answered(said: Data, record: Data, reading: ReadOptions, left_out: Counter[LeftOut]) -> Line:
    notices = _beside_the_text(said.get("content"), left_out)
    text, at = joined(texts_of(said.get("content"))), reading.moment(record.get("timestamp"))
    model = name_of(said.get("model"))
    if record.get("isApiErrorMessage") is True or (model == SYNTHETIC and text.strip() not in {"", *NO_ANSWERS}):
        causes = (record.get("error"), record.get("apiErrorStatus"))
        codes = (ERRORS.get(cause) for cause in causes if isinstance(cause, str | int))
        code = next((code for code in codes if code), "PROVIDER_UNAVAILABLE")
        return Line("assistant", at=at, error=TurnError(code=code, message=text or "Claude Code gave no reason"))
    if model == SYNTHETIC:
        count_named(SYNTHETIC, {"text": text}, left_out)
        return Line()
    usage = object_of(said.get("usage"))
    tokens = {"input_tokens": usage.get("input_tokens"), "output_tokens": usage.get("output_tokens")}
    return Line(
        role="assistant",
        text=text,
        reasoning=joined(text_of(object_of(block).get("thinking")) for block in list_of(said.get("content"))),
        at=at,
        model=model,
        answer_id=name_of(said.get("id")),
        usage={name: count for name, count in tokens.items() if isinstance(count, int) and not isinstance(count, bool)},
        notices=notices,
    )


def _beside_the_text(content: object, left_out: Counter[LeftOut]) -> tuple[str, ...]:
    """Count the blocks other than text, and return the notices that name attachments."""
    attached: list[str] = []
    for block in map(object_of, list_of(content)):
        kind = name_of(block.get("type")) or ""
        # Results of tools are in records of the user.
        if TOOL_BLOCK.fullmatch(kind):
            left_out["tool messages"] += 1
        elif kind in {"image", "document"}:
            attached.append(kind)
        elif kind not in {"text", "thinking", "redacted_thinking"}:
            count_named(kind, block, left_out)
    return missing(attached, left_out)


def _of_a_person(text: str, left_out: Counter[LeftOut]) -> str:
    """Return the text without the program's additions before and after it, which are counted by name."""
    if INTERRUPTION.fullmatch(text.strip()):
        left_out["Request interrupted by user"] += 1
        return ""
    start, end = 0, len(text)
    while (opened := ELEMENT.match(text, start)) and (close := text.find(f"</{opened[1]}>", opened.end())) >= 0:
        left_out[opened[1]] += 1
        start = close + len(opened[1]) + 3
    while (closed := LAST_TAG.match(text, max(start, text.rfind("</", start, end)), end)) and (
        begins := text.rfind(f"<{closed[1]}>", start, end)
    ) >= 0:
        left_out[closed[1]] += 1
        end = begins
    return text if end - start == len(text) else text[start:end].strip()
