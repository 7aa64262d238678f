"""ChatGPT's calls that write into a canvas: documents, changes to them, and comments on them."""

import json
import re

from conversation_mcp.importing.documents import WrittenDocuments
from conversation_mcp.importing.formats.chatgpt_contents import texts_in
from conversation_mcp.importing.messages import Data, joined, list_of, name_of, object_of, text_of

CANVAS, CANVAS_NAME = "canmore.", "Canvas"
REWRITES_ALL = frozenset({".*", ".+", "^.*$", r"[\s\S]*", "(?s).*", "(?s)^.*$", r"(.|\n)*", r"\A.*\Z", r"(?s)\A.*\Z"})
"""The patterns with which a call replaces the whole canvas."""
ESCAPED = re.compile(r"\\([^\w\s])")
"""An escaped sign in a pattern. Patterns of an export are compared as texts and never run: they may be hostile."""


WILDCARD = re.compile(r"(?:(?<!\\)\.|\[\\s\\S\])[*+](\??)")
"""What stands for any text in a pattern; lazy ones end with a question mark."""


def passage_of(text: str, pattern: str) -> str:
    """Return the first passage that a pattern means whose only special signs are wildcards; empty if there is none."""
    spans_lines = pattern.startswith("(?s)") or r"[\s\S]" in pattern
    first, *others = WILDCARD.split(pattern.removeprefix("(?s)").removeprefix("^").removesuffix("$"))
    begin = text.find(first := ESCAPED.sub(r"\1", first)) if first else -1
    end = begin + len(first)
    for is_lazy, after in zip(others[::2], (ESCAPED.sub(r"\1", each) for each in others[1::2]), strict=True):
        line_end = text.find("\n", end)
        limit = len(text) if spans_lines or line_end < 0 else line_end
        place = text.find(after, end, limit) if is_lazy else text.rfind(after, end, limit)
        if begin < 0 or place < 0:
            return ""
        end = place + len(after)
    return text[begin:end] if begin >= 0 else ""


def write_canvas(documents: WrittenDocuments, content: Data, textdoc_id: str | None) -> bool:
    """Apply a call to the canvas of that id; a text that cannot be read as a call is the document itself.

    Return False if it changes nothing.
    """
    call = text_of(content.get("text")) or joined(texts_in(content))
    try:
        given = object_of(json.loads(call))
    except (ValueError, RecursionError):
        given = {"content": call}
    if text := text_of(given.get("content")):
        name = name_of(given.get("name")) or CANVAS_NAME
        documents.begin(name, text, textdoc_id)
        return True
    key = textdoc_id if textdoc_id and textdoc_id in documents else documents.last
    updates, comments = ([object_of(each) for each in list_of(given.get(name))] for name in ("updates", "comments"))
    for update in updates:
        pattern, new = text_of(update.get("pattern")), text_of(update.get("replacement"))
        if pattern in REWRITES_ALL and key:
            documents.write(key, new)
        else:
            old = pattern if documents.holds(key, pattern) else passage_of(documents.text(key), pattern) or pattern
            documents.change(key, old, new, CANVAS_NAME, everywhere=update.get("multiple") is True)
    for comment in comments:
        if words := joined((text_of(comment.get("pattern")), text_of(comment.get("comment")))):
            documents.add_beside(key, "comments", words, CANVAS_NAME)
    return bool(updates or comments)
