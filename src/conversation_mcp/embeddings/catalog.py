"""The embedders by name, imported when they are needed."""

from collections.abc import Callable
from functools import cached_property
from pkgutil import resolve_name
from typing import NamedTuple, cast

from conversation_mcp.embeddings.base import Embedder

AUTO, OFF, BUNDLED = "auto", "off", "bundled"
BUNDLED_MODEL = "conversation_mcp.embeddings.bundled.embedder:build"
WIRES = {
    "embeddings": "conversation_mcp.embeddings.servers.embeddings:EmbeddingsEmbedder",
    "embed": "conversation_mcp.embeddings.servers.embed:EmbedEmbedder",
}
"""Adapters of servers, by the name of their wire; as text, so that only the one that is used loads."""


class EmbeddingServer(NamedTuple):
    """A server that is asked for vectors, and the model there."""

    name: str
    """The name of the provider."""
    wire: str
    url: str
    key: str | None
    model: str
    is_direct: bool
    """Whether it is on this machine, where no proxy is asked."""


class Embedders:
    """Opens the embedder that the setting names, and others that an index of vectors was made with.

    `server_of` returns the server that a choice such as `name:model` names, None if it is not configured.
    """

    def __init__(self, setting: str, server_of: Callable[[str], EmbeddingServer | None]) -> None:
        self._setting = setting
        self._server_of = server_of
        self._open: dict[str, Embedder | None] = {}

    @property
    def choice(self) -> str | None:
        """The embedder that is chosen; None if words alone are searched for."""
        return {OFF: None, AUTO: BUNDLED}.get(self._setting, self._setting)

    @cached_property
    def chosen(self) -> Embedder | None:
        """The embedder that is chosen, None if there is none."""
        return self.open(self.choice) if self.choice else None

    def open(self, choice: str) -> Embedder | None:
        """Return an embedder, the same one each time; None if it is not installed or not configured."""
        if choice not in self._open:
            self._open[choice] = self._made(choice)
        return self._open[choice]

    def _made(self, choice: str) -> Embedder | None:
        if choice == BUNDLED:
            return cast("Callable[[], Embedder | None]", resolve_name(BUNDLED_MODEL))()
        server = self._server_of(choice)
        if server is None:
            return None
        return cast("Callable[[EmbeddingServer], Embedder]", resolve_name(WIRES[server.wire]))(server)


def open_bundled() -> Embedder | None:
    """Return the bundled model, None if it is not installed."""
    return Embedders(BUNDLED, lambda _: None).chosen
