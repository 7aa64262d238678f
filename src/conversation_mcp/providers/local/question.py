"""What is looked for: the words of the last question, with the conversation before it as weaker context."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conversation_mcp.providers.base import ChatMessage
from conversation_mcp.text import PUNCTUATION, fold, match_query

MAX_QUESTION_CHARS = 4_000
EARLIER_QUESTIONS = 3
CITATION = re.compile(r"^\[\d+\] `(.+:\d+(?:-\d+)?)`", re.MULTILINE)


@dataclass(frozen=True)
class Question:
    """The words to look for, folded, each with the way it was typed; and the passages that were quoted before."""

    words: Mapping[str, str]
    context: Mapping[str, str]
    cited: frozenset[str]
    is_shortened: bool = False

    @classmethod
    def of(cls, messages: Sequence[ChatMessage], stopwords: frozenset[str]) -> "Question":
        """Read the conversation; a question without words of its own (`and then?`) asks on with earlier ones."""
        questions = [message.content for message in messages if message.role == "user"]
        answers = "\n".join(message.content for message in messages if message.role == "assistant")
        last = questions[-1] if questions else ""
        words = _words(last, stopwords)
        context = _words("\n".join(questions[-1 - EARLIER_QUESTIONS : -1]), stopwords)
        return cls(
            words=words or context or _words(last, frozenset()),
            context={word: typed for word, typed in context.items() if word not in words} if words else {},
            cited=frozenset(CITATION.findall(answers)),
            is_shortened=len(last) > MAX_QUESTION_CHARS,
        )


def expression(words: Mapping[str, str]) -> str:
    """Return the FTS5 expression that finds any of the words."""
    return match_query(" ".join(words))


def _words(text: str, stopwords: frozenset[str]) -> dict[str, str]:
    if len(text) > MAX_QUESTION_CHARS:
        half = MAX_QUESTION_CHARS // 2
        text = f"{text[:half]} {text[-half:]}"
    words: dict[str, str] = {}
    for typed in text.split():
        for word in fold(typed).split():
            bare = word.strip(PUNCTUATION)
            if bare not in stopwords and match_query(word):
                words.setdefault(bare, typed.strip(PUNCTUATION))
    return words
