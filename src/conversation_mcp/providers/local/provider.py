"""The provider that needs no key and no network: it quotes passages from the documents that the user named."""

from collections.abc import AsyncGenerator, Sequence
from importlib.resources import files
from pathlib import Path

import anyio.to_thread

from conversation_mcp.errors import RunLostError
from conversation_mcp.providers.base import Answer, Event, Finished, Mode, Progress, Request, TextDelta
from conversation_mcp.providers.catalog import ProviderContext
from conversation_mcp.providers.local.answer import SHORTENED, compose, option_notices
from conversation_mcp.providers.local.documents import Documents
from conversation_mcp.providers.local.index import find
from conversation_mcp.providers.local.passages import cut
from conversation_mcp.providers.local.question import Question

NAME = "local"
SEARCH_PASSAGES = 4
RESEARCH_PASSAGES = 10


def build(context: ProviderContext) -> "LocalProvider | None":
    """Return the provider, or None when no documents are named."""
    named = context.settings.documents
    return LocalProvider(named, _home()) if named else None


class LocalProvider:
    """Answers with passages; every question reads the documents as they are now."""

    name = NAME
    abilities: frozenset[Mode] = frozenset({"search", "deep_research"})

    def __init__(self, named: Sequence[Path], home: Path | None) -> None:
        self._named = tuple(named)
        self._home = home

    def serves(self, model: str) -> bool:
        """Tell whether the model is `local`, the only one."""
        return model == NAME

    async def ask(self, request: Request) -> AsyncGenerator[Event]:
        """Find the files, then read and rank them.

        Raises:
            ProviderNotConfiguredError: the named documents do not exist, are too much, or hold no text.
        """
        documents = await anyio.to_thread.run_sync(Documents, self._named, self._home)
        count = len(documents.paths)
        yield Progress(f"reading {count} file" + "s" * (count != 1))
        answer = await anyio.to_thread.run_sync(_answer, documents, request)
        yield TextDelta(answer.content)
        yield Finished(answer)

    async def fetch(self, response_id: str) -> Finished:
        """Raise RunLostError: an answer is there at once or never."""
        del response_id
        raise RunLostError(NAME)

    async def follow(self, response_id: str) -> AsyncGenerator[Event]:
        """Raise as `fetch`."""
        yield await self.fetch(response_id)

    async def cancel(self, response_id: str) -> Finished:
        """Raise as `fetch`."""
        return await self.fetch(response_id)


def _answer(documents: Documents, request: Request) -> Answer:
    texts = [(path, text) for path in documents.paths if (text := documents.read(path)) is not None]
    if not texts:
        raise documents.nothing_to_read()
    passages = [passage for path, text in texts for passage in cut(text, path)]
    question = Question.of(request.messages, _stopwords())
    is_research = request.mode == "deep_research"
    findings = find(passages, question, RESEARCH_PASSAGES if is_research else SEARCH_PASSAGES)
    notices = option_notices(request.options)
    notices += [SHORTENED] * question.is_shortened
    notices += filter(None, [documents.skipped_sentence()])
    return compose(findings, by_file=is_research, notices=notices)


def _stopwords() -> frozenset[str]:
    return frozenset(files("conversation_mcp.providers.local").joinpath("stopwords_en.txt").read_text("utf-8").split())


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:  # an account without a home folder
        return None
