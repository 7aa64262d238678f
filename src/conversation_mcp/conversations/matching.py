"""Looking for words in all conversations, without an index: every file is read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from conversation_mcp.conversations.files import Data, Found, find, read_each, seconds_of
from conversation_mcp.conversations.listing import Summary, summary_of
from conversation_mcp.text import fold

BEFORE_CHARS = 30
EXCERPT_CHARS = 160


@dataclass(frozen=True)
class Match:
    """A conversation that has all the words, and the place of the first of them."""

    summary: Summary
    excerpt: str


@dataclass(frozen=True)
class Matches:
    """The conversations that were found, of how many there are, and what could not be read."""

    found: tuple[Match, ...]
    total: int
    problems: tuple[str, ...]


def matching(root: Path, words: Sequence[str]) -> Matches:
    """Return the conversations in which each word or phrase occurs somewhere, newest first; case does not count.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    wanted = [fold(" ".join(word.split())) for word in words]
    founds = find(root)
    problems: list[str] = []
    matches: list[Match] = []
    for _, match in read_each(founds, lambda found, data: _match(found, data, wanted), problems):
        matches += match
    matches.sort(key=lambda match: (seconds_of(match.summary.updated_at), match.summary.conversation_id), reverse=True)
    return Matches(tuple(matches), len(founds), tuple(problems))


def _match(found: Found, data: Data, wanted: Sequence[str]) -> tuple[Match, ...]:
    texts = _texts(data)
    folded = [fold(text) for text in texts]
    if not all(any(word in text for text in folded) for word in wanted):
        return ()
    return (Match(summary_of(found, data), _excerpt(texts, folded, wanted)),)


def _texts(data: Data) -> list[str]:
    """Return what a person would call the content: questions, answers and the title, each on one line."""
    pending: Data = data.get("pendingTurn") or {}
    unanswered: list[Data] = data.get("unansweredTurns") or []
    texts: list[str] = [message["content"] for message in data["messages"] if message["role"] != "system"]
    texts += [data.get("title") or "", pending.get("question", ""), pending.get("partialText") or ""]
    texts += [turn.get("question", "") for turn in unanswered]
    return [" ".join(text.split()) for text in texts]


def _excerpt(texts: Sequence[str], folded: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the surroundings of the first word that occurs in the first text that has one."""
    for text, plain in zip(texts, folded, strict=True):
        if places := [place for word in wanted if (place := plain.find(word)) >= 0]:
            # Folding can change lengths; the place is then a little off, which an excerpt may be.
            start = text.rfind(" ", 0, max(0, min(*places, len(text)) - BEFORE_CHARS)) + 1
            end = start + EXCERPT_CHARS
            return ("…" if start else "") + text[start:end].rstrip() + ("…" if end < len(text) else "")
    return ""
