"""Conversations as Markdown: the structure that all pages share, and the page for reading."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from conversation_mcp.conversations.attached import attached_lines
from conversation_mcp.conversations.phrases import dotted, merged_from, minute, paragraphs, related_to
from conversation_mcp.conversations.sections import Section, sections
from conversation_mcp.records.costs import cost_of
from conversation_mcp.records.models import Conversation, Source
from conversation_mcp.records.titles import title_of_conversation
from conversation_mcp.text import counted, dollars, one_line


class MarkdownPage(ABC):
    """The parts that every page has, and their order."""

    def render(self, conversation: Conversation) -> str:
        """Return the page of a conversation."""
        parts = (part for section in self.sections(conversation) for part in self._section(section, conversation))
        return paragraphs(*self.head(conversation), *parts) + "\n"

    @abstractmethod
    def head(self, conversation: Conversation) -> Iterable[str]:
        """Yield the title and the facts of the whole conversation."""

    def sections(self, conversation: Conversation) -> Iterator[Section]:
        """Yield the sections that are shown."""
        return sections(conversation)

    @abstractmethod
    def body(self, section: Section, conversation: Conversation) -> Iterable[str]:
        """Yield the heading and facts of a section, and its text."""

    @abstractmethod
    def source(self, source: Source) -> str:
        """Return the line of a source."""

    def line(self, text: str) -> str:
        """Return a file, a related question or a notice as an item of a list."""
        return text

    def attached(self, section: Section) -> Iterable[str]:
        """Return the lines of the files and images that a question names."""
        return attached_lines(section.attached)

    def notices(self, section: Section) -> Iterable[str]:
        """Return the notices to list."""
        return section.notices

    def foot(self, section: Section) -> Iterable[str]:
        """Yield what comes below the lists."""
        del section
        return ()

    def _section(self, section: Section, conversation: Conversation) -> Iterator[str]:
        yield from self.body(section, conversation)
        yield _list("Files", map(self.line, self.attached(section)))
        yield _list("Sources", map(self.source, section.sources))
        yield _list("Related questions", map(self.line, section.related_questions))
        yield _list("Notices", map(self.line, self.notices(section)))
        yield from self.foot(section)


class ReadingPage(MarkdownPage):
    """The page for reading: messages with numbers, facts and sources, unanswered questions where they were asked."""

    def head(self, conversation: Conversation) -> Iterable[str]:
        """Yield the title, the facts, what was merged, and what belongs with it."""
        yield f"# {title_of_conversation(conversation)}"
        facts = (
            f"`{conversation.conversation_id}`",
            counted(conversation.turn_count, "answer"),
            dollars(cost_of(conversation)),
            f"updated {minute(conversation.updated_at)}",
            "archived" if conversation.archived else "",
        )
        yield dotted(*facts)
        yield merged_from(conversation.parents)
        yield related_to(conversation.related)

    def sections(self, conversation: Conversation) -> Iterator[Section]:
        """Yield all sections but the system text."""
        yield from (section for section in super().sections(conversation) if section.name != "system")

    def body(self, section: Section, conversation: Conversation) -> Iterable[str]:
        """Yield a rule before each question, the facts and the text; for an unanswered one, what is known of it."""
        is_answered = section.kind != "unanswered"
        yield "" if section.kind in ("answer", "system", "summary") else "---"
        yield dotted(
            f"**{section.name}**",
            f"#{section.number}" if section.kind not in ("unanswered", "step", "summary") else "",
            section.tool,
            section.by if is_answered else "",
            section.cost,
            section.time,
        )
        yield section.text
        if is_answered:
            return
        yield from section.notices
        yield f"Text so far:\n\n{section.partial_text}" if section.partial_text else ""
        if section.is_resumable:
            yield f"Get the answer: `conversation-mcp resume {conversation.conversation_id}`"

    def notices(self, section: Section) -> Iterable[str]:
        """Return the notices of a message; `body` shows those of an unanswered question."""
        return () if section.kind == "unanswered" else section.notices

    def source(self, source: Source) -> str:
        """Return the number, the title with its address or place, and the date."""
        place = source.place
        title = source.title or place
        named = f"[{title}](<{source.url}>)" if source.url else title if title == place else f"{title}, `{place}`"
        return one_line(f"\\[{source.id}\\] {named}" + (f" ({source.date})" if source.date else ""))


def markdown(conversation: Conversation) -> str:
    """Return the page that `show` and the resource show."""
    return ReadingPage().render(conversation)


def _list(name: str, lines: Iterable[str]) -> str:
    items = [f"- {line}" for line in lines]
    return "\n".join([f"{name}:", "", *items]) if items else ""
