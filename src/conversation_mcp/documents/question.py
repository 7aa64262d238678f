"""The words to search for: those of the last question, with earlier questions as weaker context."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.text import PUNCTUATION, fold, match_query

MAX_QUESTION_CHARS = 4_000
EARLIER_QUESTIONS = 3
MAX_PARTS = 6
MAX_PHRASINGS, MAX_PHRASING_CHARS = 6, 300
# As the local answers write it; what was cited before is found by it again.
CITATION = re.compile(r"^\[\d+\] `(.+(?::\d+(?:-\d+)?|, (?:page|paragraph|row|slide) \d+(?:-\d+)?))`", re.MULTILINE)
SENTENCES = re.compile("[?!;\\n\u3002\uff1f\uff01\uff1b]+|\\.(?=\\s|\\Z)")
CLAUSES = re.compile(r",|\b(?:and|or|as well as)\b", re.IGNORECASE)

Words = Mapping[str, str]
"""Folded words to search for, each with its form as typed."""


@dataclass(frozen=True)
class Question:
    """The words to search for, those of each part of the question, and the passages that earlier answers cited."""

    words: Words
    context: Words
    cited: frozenset[str]
    parts: tuple[Words, ...] = ()
    text: str = ""
    """The question as it was asked, after the one before if it has no words of its own."""
    is_shortened: bool = False
    phrasings: tuple["Question", ...] = ()
    """The question in other words each time, if it has a few short lines."""

    @classmethod
    def of(cls, messages: Sequence[ChatMessage], stopwords: frozenset[str]) -> "Question":
        """Read the conversation; a question without words of its own (`and then?`) uses those of earlier ones."""
        questions = [message.content for message in messages if message.role == "user"]
        answers = "\n".join(message.content for message in messages if message.role == "assistant")
        last = questions[-1] if questions else ""
        words = _words(last, stopwords)
        context = _words("\n".join(questions[-1 - EARLIER_QUESTIONS : -1]), stopwords)
        return cls(
            words=words or context or _words(last, frozenset()),
            context={word: typed for word, typed in context.items() if word not in words} if words else {},
            cited=frozenset(CITATION.findall(answers)),
            parts=_parts(last, stopwords),
            text=_bounded(last if words else "\n".join(questions[-2:])),
            is_shortened=len(last) > MAX_QUESTION_CHARS,
            phrasings=tuple(_phrasings(last, stopwords)),
        )


def _phrasings(text: str, stopwords: frozenset[str]) -> Iterator[Question]:
    lines = [line for line in map(str.strip, text[:MAX_QUESTION_CHARS].splitlines()) if line]
    if 1 < len(lines) <= MAX_PHRASINGS and max(map(len, lines)) <= MAX_PHRASING_CHARS:
        for line in lines:
            if words := _words(line, stopwords):
                yield Question(words, {}, frozenset(), text=line)


def _parts(text: str, stopwords: frozenset[str]) -> tuple[Words, ...]:
    """Return the words of each sentence, or of each clause of a single sentence; nothing if there is only one part."""
    text = _bounded(text)
    for division in (SENTENCES, CLAUSES):
        parts = [words for part in division.split(text) if (words := _words(part, stopwords))]
        if len(parts) > 1:
            return tuple(parts[:MAX_PARTS])
    return ()


def _words(text: str, stopwords: frozenset[str]) -> dict[str, str]:
    words: dict[str, str] = {}
    for typed in _bounded(text).split():
        for word in fold(typed).split():
            bare = word.strip(PUNCTUATION)
            if bare not in stopwords and match_query(word):
                words.setdefault(bare, typed.strip(PUNCTUATION))
    return words


def _bounded(text: str) -> str:
    if len(text) <= MAX_QUESTION_CHARS:
        return text
    half = MAX_QUESTION_CHARS // 2  # people ask before or after a long text that they paste, not in its middle
    return f"{text[:half]} {text[-half:]}"
