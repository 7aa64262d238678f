"""Redaction of what should not be passed on: paths, ids of responses, keys."""

import re
from collections.abc import Mapping
from typing import Any, cast

from conversation_mcp.exporting.base import NO_CONTENTS, Contents
from conversation_mcp.records.hashes import hash_of
from conversation_mcp.records.models import Conversation

PATH_FIELDS = frozenset({"path", "files", "checked"})
"""Fields whose texts are paths; those of workflow steps are lists of them."""
HASH_FIELDS = frozenset({"sha256", "text", "shown"})
DROPPED_FIELDS = frozenset({"responseId", "imported"})
REPLACEMENTS = (
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL), "[key]"),
    (
        re.compile(
            r"(?<![A-Za-z0-9])(?:sk|pk|rk|pplx|xai|gsk|hf|tvly|r8|ghp|gho|ghu|ghs|ghr|glpat|npm|pypi|key|github_pat|"
            r"xox[a-z])[-_][A-Za-z0-9_-]{16,}"
        ),
        "[key]",
    ),
    (re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"), "[key]"),
    (re.compile(r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}"), "[key]"),
    (re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"), "[key]"),
    (re.compile(r"(?<=Bearer )[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), "[key]"),
    (re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"), "[key]"),
    (
        re.compile(r"(?i)((?:api[_-]?key|access[_-]?token|secret|passw(?:or)?d)[\"']?\s*[=:]\s*[\"']?)[^\s\"'`,;]{6,}"),
        r"\1[key]",
    ),
    (re.compile(r"file://[^\s)>\"'`]+", re.IGNORECASE), "[path]"),
    (re.compile(r"(?<![\w/\\])[A-Za-z]:\\[^\s\"'`<>|*?]+"), "[path]"),
    (re.compile(r"(?<![\w\\])\\\\[\w.$-]+\\[^\s\"'`<>|*?]+"), "[path]"),
    (
        re.compile(
            r"(?<![\w/.:~-])(?:~|/(?:home|Users|root|tmp|var|etc|opt|srv|mnt|media|work|private|workspace|usr|data|app|"
            r"Volumes))/[^\s\"'`<>)\]},;]+"
        ),
        "[path]",
    ),
)  # fmt: skip
"""Known shapes of keys, then absolute paths. Anything else stays, as docs/import-export.md says."""


def redacted(conversation: Conversation, contents: Contents = NO_CONTENTS) -> tuple[Conversation, Contents]:
    """Return both without ids of responses, and with placeholders for paths and apparent keys.

    A content that has changed gets another hash. One that is not text is left out, because nobody can look into it.
    """
    cleaned = {name: clean_text(data.decode()).encode() for name, data in contents.items() if _is_text(data)}
    hashes = {name: hash_of(data) for name, data in cleaned.items()}
    data = _clean(conversation.data())
    for question in (*data["messages"], *_turns(data)):
        for named in (*(question.get("files") or ()), *(question.get("images") or ())):
            _rename(named, hashes, cleaned)
    shown = Conversation.model_validate(data, by_alias=True, by_name=False)
    return shown, {hashes[name]: data for name, data in cleaned.items()}


def _turns(data: Mapping[str, Any]) -> list[Any]:
    pending = data.get("pendingTurn")
    return [*(data.get("unansweredTurns") or ()), *([pending] if pending else [])]


def _rename(named: dict[str, Any], hashes: Mapping[str, str], cleaned: Contents) -> None:
    """Let a file or image name the redacted contents."""
    if (name := str(named.get("sha256"))) in cleaned:
        named["bytes"] = len(cleaned[name])
    for field in HASH_FIELDS & named.keys():
        named[field] = hashes.get(named[field], named[field])


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _clean(value: object, name: str = "") -> Any:  # noqa: ANN401 -- JSON of whatever shape
    if isinstance(value, str):
        return "[path]" if name in PATH_FIELDS else clean_text(value)
    if isinstance(value, Mapping):
        items = cast("Mapping[str, object]", value).items()
        return {clean_text(name): _clean(item, name) for name, item in items if name not in DROPPED_FIELDS}
    if isinstance(value, list | tuple):
        return [_clean(item, name) for item in cast("list[object]", value)]
    return value


def clean_text(text: str) -> str:
    """Return the text with `[key]` and `[path]` in place of apparent keys and paths."""
    for pattern, replacement in REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return text
