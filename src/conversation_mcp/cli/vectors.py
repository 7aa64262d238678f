"""The vectors for searches by meaning: made at once with a bar, or in the background, and how far they are."""

from collections.abc import Generator, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.progress import progress
from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.setup import finder_of, settings_from
from conversation_mcp.cli.vector_process import at_half_speed, take_background
from conversation_mcp.conversations.turn_meaning import open_meaning
from conversation_mcp.providers.base import Reader, as_reader
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.providers.embedders import embedders_in
from conversation_mcp.stores.headway import Headway

if TYPE_CHECKING:
    from conversation_mcp.searching.vectors.builder import VectorHeadway
    from conversation_mcp.settings import Settings

MAKING = "making the vectors"
ELSEWHERE = "Another process is making the vectors; what it makes was not done here."
NO_MODEL = "There is no model for searches by meaning. The extra conversation-mcp[semantic] and its model bring one."


def make_vectors(logs_dir: Path | None, owner: str | None, *, in_background: bool) -> None:
    """Make the vectors that are missing.

    Raises:
        ConversationMCPError: the documents cannot be read, or the model fails.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    if in_background:
        take_background()
        at_half_speed(_steps(settings))
        return
    headway, last = Headway(), None
    with progress(MAKING, headway, after_seconds=0):
        for last in _steps(settings):
            headway.total, headway.seen = last.total, last.done
    if last is None:
        say(NO_MODEL)
    elif last.is_elsewhere:
        say(ELSEWHERE)


def readers_in(settings: "Settings") -> Iterator[Reader]:
    """Yield the providers that read files."""
    for provider in build_providers(ProviderContext(settings, LazyClient())):
        if reader := as_reader(provider):
            yield reader


def _steps(settings: "Settings") -> "Generator[VectorHeadway]":
    for reader in readers_in(settings):
        yield from reader.make_vectors()
    finder, embedders = finder_of(settings), cache(partial(embedders_in, settings))
    if not finder.ids():
        return  # an index would keep the name of a user who was just deleted
    if (remembered := finder.remembered) and (meaning := open_meaning(embedders, remembered)):
        finder.refresh(Headway())  # whose words are what is embedded
        yield from meaning.steps(remembered.source)
    if (turns := finder.turns) and (meaning := open_meaning(embedders, turns)):
        yield from meaning.steps(turns.source)
