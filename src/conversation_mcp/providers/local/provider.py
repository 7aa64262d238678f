"""The provider without a key and a network: it quotes passages from the documents that the user named."""

from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from conversation_mcp.disk.files import home_folder
from conversation_mcp.embeddings.catalog import Embedders
from conversation_mcp.errors import RunLostError
from conversation_mcp.providers.base import (
    Answer,
    Event,
    Finished,
    Progress,
    Request,
    Survey,
    TextDelta,
    VectorStanding,
)
from conversation_mcp.providers.catalog import LOCAL, ProviderContext
from conversation_mcp.providers.embedders import embedders_in
from conversation_mcp.records.modes import Mode
from conversation_mcp.text import counted

if TYPE_CHECKING:
    from conversation_mcp.documents.library import DocumentLibrary
    from conversation_mcp.documents.walk import Document
    from conversation_mcp.searching.stamped import Backlog
    from conversation_mcp.searching.vectors.builder import VectorHeadway

SEARCH_PASSAGES = 4
RESEARCH_PASSAGES = 10
MANY_FILES = 50
BAR_CELLS = 10


def build(context: ProviderContext) -> "LocalProvider | None":
    """Return the provider, or None if no documents are named."""
    named = context.settings.documents
    if not named:
        return None
    embedders = embedders_in(context.settings)
    return LocalProvider(named, home_folder(), context.cache / "documents", context.now, embedders, context.has_work)


class LocalProvider:
    """Answers with passages of the documents, as they are at the time of each question."""

    name = LOCAL
    abilities: frozenset[Mode] = frozenset({"search", "deep_research"})

    def __init__(
        self,
        named: Sequence[Path],
        home: Path | None,
        indexes: Path,
        now: Callable[[], datetime],
        embedders: Embedders | None = None,
        has_work: Callable[[], object] = lambda: None,
    ) -> None:
        self._named = tuple(named)
        self._home = home
        self._indexes = indexes
        self._now = now
        self._embedders = embedders
        self._has_work = has_work
        self._library: DocumentLibrary | None = None

    def serves(self, model: str) -> bool:
        """Tell whether the model is `local`, the only name here."""
        return model == LOCAL

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Update the index from the documents, then rank and quote passages.

        Raises:
            ProviderNotConfiguredError: the named documents do not exist, are too many, or contain nothing at all.
            ProviderUnavailableError: this Python has no full-text search.
        """
        library = await to_thread.run_sync(self._opened)
        steps = library.catch_up()
        said = ""
        # Reading is done in steps of a thread, between which progress is reported and a stop takes effect.
        while (work := await to_thread.run_sync(next, steps, None)) is not None:
            if (doing := _doing(work)) != said:
                yield Progress(said := doing)
        answer = await to_thread.run_sync(self._answer, library, request)
        if library.meaning:
            # What was just read has no vectors yet; the answer does not wait for them.
            self._has_work()
        yield TextDelta(answer.content)
        yield Finished(answer)

    def survey(self) -> Survey:
        """List the documents; those that could not be read are known from earlier questions."""
        count, skipped = self._opened().survey()
        return Survey(count, tuple(skipped.summary()))

    def make_vectors(self) -> "Generator[VectorHeadway]":
        """Bring the index up to date, then make the vectors of the passages in it."""
        library = self._opened()
        if library.meaning:
            for _ in library.catch_up():
                pass
            yield from library.meaning.steps(library.texts)

    def vectors(self) -> VectorStanding | None:
        """Count passages and vectors."""
        library = self._opened()
        if library.meaning is None:
            return None
        known, size_bytes = library.meaning.count, library.meaning.index.size_bytes()
        return VectorStanding(
            library.meaning.name,
            library.passage_count,
            known,
            is_whole=library.meaning.is_whole,
            size_bytes=size_bytes,
            server=library.meaning.server,
        )

    async def fetch(self, response_id: str) -> Finished:
        """Raise RunLostError: an answer exists at once or never."""
        del response_id
        raise RunLostError(LOCAL)

    async def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Raise as `fetch`."""
        yield await self.fetch(response_id)

    async def cancel(self, response_id: str) -> Finished:
        """Raise as `fetch`."""
        return await self.fetch(response_id)

    def _opened(self) -> "DocumentLibrary":
        """Return the library of the named documents; a pattern or link may lead elsewhere than at the last question."""
        from conversation_mcp.documents.formats import Formats
        from conversation_mcp.documents.library import DocumentLibrary
        from conversation_mcp.documents.roots import roots_of

        roots = roots_of(self._named, self._home)
        library = self._library
        if library is None or library.roots != tuple(roots):
            self._library = library = DocumentLibrary(roots, self._indexes, self._now, Formats(), self._embedders)
            library.purge_orphans()
        return library

    def _answer(self, library: "DocumentLibrary", request: Request) -> Answer:
        from conversation_mcp.documents.query_words import load_stopwords
        from conversation_mcp.documents.question import Question
        from conversation_mcp.documents.roots import nothing_to_read
        from conversation_mcp.documents.scope import Scope
        from conversation_mcp.providers.local import answer

        has_text, skipped = library.has_text, library.skipped
        if not has_text and not skipped.has_sound:
            raise nothing_to_read(self._named, skipped.sentence())
        question = Question.of(request.messages, load_stopwords())
        is_research = request.mode == "deep_research"
        scope = Scope.of(request.options, self._now())
        limit = RESEARCH_PASSAGES if is_research else SEARCH_PASSAGES
        findings = library.find(question, scope, limit, by_parts=is_research) if has_text else None
        notices = answer.option_notices(request.options)
        notices += [answer.SHORTENED] * question.is_shortened
        notices += filter(None, [skipped.sentence()])
        if library.problem:
            notices.append(f"no index of the documents is kept, so every file was read ({library.problem})")
        if library.meaning and library.meaning.notice:
            notices.append(library.meaning.notice)
        if findings is None:
            return answer.unread(notices, skipped.unexpected)
        return answer.compose(findings, by_file=is_research, notices=notices, unread=skipped.unexpected)


def _doing(work: "Backlog[Document]") -> str:
    if work.waiting <= MANY_FILES:
        return f"looking through {counted(work.total, 'file')}"
    done = min(work.total, work.total - work.waiting + work.done)
    filled = BAR_CELLS * done // work.total
    bar = "▓" * filled + "░" * (BAR_CELLS - filled)
    return f"reading {work.total:,} files {bar} {100 * done // work.total} %"
