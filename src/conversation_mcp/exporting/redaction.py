"""Redaction of what should not be passed on: paths, ids of responses, keys."""

import re
from collections.abc import Callable

from conversation_mcp.conversations.rewriting import Rewriting, is_text, rewritten
from conversation_mcp.exporting.base import NO_CONTENTS, Contents
from conversation_mcp.records.models import Conversation
from conversation_mcp.redacting.redactor import Redactor

SHOWN_PATH = "[path]"
DROPPED_FIELDS = frozenset({"responseId", "imported"})
PATHS = (
    re.compile(r"(?i)file://[^\s)>\"'`]+"),
    re.compile(r"(?<![\w/\\])[A-Za-z]:\\[^\s\"'`<>|*?]+"),
    re.compile(r"(?<![\w\\])\\\\[\w.$-]+\\[^\s\"'`<>|*?]+"),
    re.compile(
        r"(?<![\w/.:~-])(?:~|/(?:home|Users|root|tmp|var|etc|opt|srv|mnt|media|work|private|workspace|usr|data|app|"
        r"Volumes))/[^\s\"'`<>)\]},;]+"
    ),
)
"""Absolute paths. Keys are recognized as everywhere; anything else stays, as docs/import-export.md says."""

CleanText = Callable[[str], str]


def redacted(conversation: Conversation, contents: Contents = NO_CONTENTS) -> tuple[Conversation, Contents]:
    """Return both without ids of responses, and with placeholders for paths and apparent keys.

    A content that has changed gets another hash. One that is not text is left out, because nobody can look into it.
    """
    texts = {name: data for name, data in contents.items() if is_text(data)}
    shared = Rewriting(_shared_text(Redactor(("keys",))), dropped=DROPPED_FIELDS, path=_hidden)
    return rewritten(conversation, texts, shared)


def _hidden(_path: str) -> str:
    return SHOWN_PATH


def _shared_text(redactor: Redactor) -> CleanText:
    def clean(text: str) -> str:
        text = redactor.redact(text).text
        for pattern in PATHS:
            text = pattern.sub(SHOWN_PATH, text)
        return text

    return clean
