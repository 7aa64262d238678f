"""The roots of clients: the folders that a client lets the server read, as it names them."""

import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import unquote, unquote_to_bytes
from weakref import WeakKeyDictionary

import anyio
from mcp import MCPError
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    REQUEST_TIMEOUT,
    InputRequiredResult,
    InputResponses,
    ListRootsRequest,
    ListRootsResult,
    NotificationParams,
    Result,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, ConfigDict

from conversation_mcp.turns.ask import GetRoots

ANSWER_SECONDS = 3.0
"""How long a question with files waits for the roots."""
MAX_ROOTS = 100
KEY = "roots"
"""The name of our only input request."""
SENDING = ("files", "images")
"""The arguments for which the roots are needed."""
FILE_URI = re.compile(r"file://(?P<host>[^/]*)(?P<path>/.*)", re.IGNORECASE | re.DOTALL)
DRIVE = re.compile(r"/[a-z]:(?:[/\\]|$)", re.IGNORECASE)

logger = logging.getLogger(__name__)

Request = ServerRequestContext[Any, Any]


class NamedRoot(BaseModel):
    """A root as any client may name it; the SDK's own type refuses the whole list for one that is no file."""

    model_config = ConfigDict(defer_build=True)

    uri: str


class NamedRoots(Result):
    """The roots as any client may name them."""

    model_config = ConfigDict(defer_build=True)

    roots: list[NamedRoot]


@dataclass
class Known:
    """The roots of one session, once they are known."""

    roots: Sequence[Path] | None = None
    changes: int = 0
    """How often the client has said that they changed."""
    asking: anyio.Lock = field(default_factory=anyio.Lock)


class ClientRoots:
    """Asks each client for its roots once per session, and again after they have changed.

    A client that has no roots, does not answer, or answers nonsense has none; its question goes on.
    """

    def __init__(self, answer_seconds: float = ANSWER_SECONDS) -> None:
        self._answer_seconds = answer_seconds
        self._known: WeakKeyDictionary[Connection, Known] = WeakKeyDictionary()

    def getter(self, request: Request, responses: InputResponses | None) -> GetRoots:
        """Return the function by which a question gets the roots; `responses` came with a call of the new era."""
        return partial(self._get, request, responses)

    async def forget(self, request: Request, _params: NotificationParams) -> None:
        """Record that the client's roots have changed."""
        known = self._known_of(request)
        known.roots = None
        known.changes += 1

    async def _get(self, request: Request, responses: InputResponses | None) -> Sequence[Path]:
        if not _has_roots(request):
            return ()
        if _is_modern(request):
            answer = (responses or {}).get(KEY)
            return paths_of(str(root.uri) for root in answer.roots) if isinstance(answer, ListRootsResult) else ()
        known = self._known_of(request)
        async with known.asking:
            if known.roots is None:
                changes = known.changes
                found = await self._asked(request)
                if known.changes == changes:  # else they changed while the client answered
                    known.roots = found
                return found or ()
            return known.roots

    async def _asked(self, request: Request) -> Sequence[Path] | None:
        """Return the roots that the client names; None if it did not answer in time, and may answer the next time."""
        try:
            named = await request.session.send_request(
                ListRootsRequest(),
                NamedRoots,
                request_read_timeout_seconds=self._answer_seconds,
                # Over HTTP, the stream that answers this call is the only one that is certainly open.
                metadata=ServerMessageMetadata(related_request_id=request.request_id),
            )
        except Exception as error:  # noqa: BLE001 -- the question goes on, whatever the client or its connection does
            logger.info("the client declares roots, but does not name any: %s", type(error).__name__)
            return None if isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT else ()
        return paths_of(root.uri for root in named.roots)

    def _known_of(self, request: Request) -> Known:
        return self._known.setdefault(_connection_of(request), Known())


def wanted_roots(
    request: Request, arguments: Mapping[str, Any], responses: InputResponses | None
) -> InputRequiredResult | None:
    """Return the answer that asks a client of the new era for its roots; None if they are not needed or not there.

    Such a client cannot be asked while a call runs: it is told what is missing, and repeats the call with it.
    """
    if responses is not None or not (_is_modern(request) and _has_roots(request)):
        return None
    if not any(arguments.get(name) for name in SENDING):
        return None
    return InputRequiredResult(input_requests={KEY: ListRootsRequest()})


def paths_of(uris: Iterable[str]) -> Sequence[Path]:
    """Return the local paths of the first roots, each once; what is no local file is left out."""
    named = (local_path(uri) for _, uri in zip(range(MAX_ROOTS), uris, strict=False))
    return tuple(dict.fromkeys(Path(path) for path in named if path))


def local_path(uri: str, *, on_windows: bool = os.name == "nt") -> str | None:
    """Return the absolute path that a file:// URI names on this machine; None for any other URI."""
    found = FILE_URI.fullmatch(uri.strip())
    if found is None or "\0" in (text := unquote(found["path"])):
        return None
    host = unquote(found["host"])
    is_local = host.casefold() in ("", "localhost")
    if on_windows:
        path = str(PureWindowsPath(text.removeprefix("/") if DRIVE.match(text) else text))
        path = path if is_local else f"\\\\{host}{path}"
        return path if PureWindowsPath(path).is_absolute() else None
    # Names of files are bytes here, and need not be UTF-8.
    return str(PurePosixPath(os.fsdecode(unquote_to_bytes(found["path"])))) if is_local else None


def _has_roots(request: Request) -> bool:
    capabilities = request.session.client_capabilities
    return capabilities is not None and capabilities.roots is not None


def _is_modern(request: Request) -> bool:
    return request.protocol_version in MODERN_PROTOCOL_VERSIONS


def _connection_of(request: Request) -> Connection:
    return request.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] -- sessions are per request
