"""Redaction of what a question brings and of what answers it, before anything of it is sent or stored."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from conversation_mcp.redacting.texts import Notices, TextRedaction

if TYPE_CHECKING:
    from conversation_mcp.attaching.contents import FileContent, FilesRead
    from conversation_mcp.prompting.composed import Composition
    from conversation_mcp.providers.base import Answer
    from conversation_mcp.turns.ask import Ask

SHOWN = ("title", "url", "snippet")
"""What a source says of itself."""


class Redaction(TextRedaction):
    """Redacts questions, files, requests and answers, too; without kinds, each comes back as it is."""

    def question(self, ask: "Ask") -> "tuple[Ask, Notices]":
        """Return the question with its system texts and stances, and the notice about what was replaced."""
        if not self.is_on:
            return ask, ()
        clean = self.counting()
        seats = tuple(seat._replace(stance_prompt=clean.maybe(seat.stance_prompt)) for seat in ask.seats)
        system, role = clean.maybe(ask.system), clean.maybe(ask.role)
        ask = ask._replace(question=clean.text(ask.question), system=system, role=role, seats=seats)
        return ask, clean.notices("the question")

    def files(self, read: "FilesRead") -> "tuple[FilesRead, Notices]":
        """Return the files with their texts redacted; one that held something is kept and sent as text alone."""
        if not self.is_on or not read.files:
            return read, ()
        clean = self.counting()
        return replace(read, files=tuple(_file(one, clean.text) for one in read.files)), clean.notices("the files")

    def request(self, composition: "Composition") -> "Composition":
        """Return the request without what earlier messages still hold."""
        if not self.is_on:
            return composition
        messages = tuple(message._replace(content=self.text(message.content)) for message in composition.messages)
        return replace(composition, messages=messages)

    def answer(self, answer: "Answer") -> "Answer":
        """Return the answer with a notice about what was replaced."""
        if not self.is_on:
            return answer
        clean = self.counting()
        sources = tuple(
            source.model_copy(update={name: clean.text(text) for name in SHOWN if (text := getattr(source, name))})
            for source in answer.sources
        )
        cleaned = answer._replace(
            content=clean.text(answer.content),
            reasoning=clean.maybe(answer.reasoning),
            related_questions=tuple(map(clean.text, answer.related_questions)),
            sources=sources,
        )
        return cleaned._replace(notices=(*answer.notices, *clean.notices("the answer")))


def _file(content: "FileContent", clean: Callable[[str], str]) -> "FileContent":
    text = clean(content.text)
    if text == content.text:
        return content
    data = text.encode("utf-8", "surrogatepass")
    return replace(content, data=data, text=text, pages=None, is_converted=False)
