"""The conversations of a folder as plain JSON data: what looking through a thousand of them can afford.

Nothing here imports the records, whose validation takes longer than reading the files.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import open_regular
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.stores.ids import SHAPE

if TYPE_CHECKING:
    from conversation_mcp.models import ConversationId

FILE_NAME = "conversation.json"
BOM = "\ufeff"

Data = Mapping[str, Any]
MadeT = TypeVar("MadeT")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


DECODER = json.JSONDecoder(parse_constant=_refuse)


@dataclass(frozen=True)
class Found:
    """A file that is there, not read yet."""

    conversation_id: "ConversationId"
    path: str
    written: float
    """When the file was written, in seconds since 1970."""


def find(root: Path) -> list[Found]:
    """Return the conversations of the folder in no order, none where there is no folder.

    Raises:
        FilesystemError: the folder cannot be read.
    """
    found: list[Found] = []
    with explained(root), suppress(FileNotFoundError), os.scandir(root) as entries:
        for entry in entries:
            if SHAPE.fullmatch(entry.name):
                path = os.path.join(entry.path, FILE_NAME)  # noqa: PTH118 -- a Path for each of thousands costs as much as reading
                with suppress(FileNotFoundError, NotADirectoryError):
                    written = os.lstat(path).st_mtime
                    found.append(Found(cast("ConversationId", entry.name), path, written))
    return found


def read_each(
    founds: Iterable[Found], make: Callable[[Found, Data], MadeT], problems: list[str]
) -> Iterator[tuple[Found, MadeT]]:
    """Yield what is made of each file that can be read; what is wrong with the others is added to the problems."""
    for found in founds:
        try:
            made = _read(found, make)
        except ConversationMCPError as error:
            problems.append(error.sentence())
        else:
            if made is not None:
                yield found, made


def _read(found: Found, make: Callable[[Found, Data], MadeT]) -> MadeT | None:
    """Return what is made of a file; whatever is odd about it is for the real decoder to judge."""
    with explained(found.path, found.conversation_id):
        try:
            with open(found.path, "rb", buffering=0, opener=open_regular) as file:
                body = file.readall()
        except FileNotFoundError:
            return None
    try:
        data = DECODER.decode(body.decode().removeprefix(BOM))
        if _is_conversation(data):
            return make(found, data)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    from conversation_mcp.stores.codec import decode  # noqa: PLC0415 -- brings the records

    return make(found, decode(body, found.path, found.conversation_id).data())


def seconds_of(time: str) -> float:
    """Return an ISO 8601 time as seconds since 1970; one without a zone is taken as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(time)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_conversation(data: Data) -> bool:
    """Tell whether the contracted fields are there; raises where they are not what they must be."""
    seconds_of(data["createdAt"])
    seconds_of(data["updatedAt"])
    return isinstance(data["messageCount"], int) and all(
        isinstance(message["role"], str) and isinstance(message["content"], str) for message in data["messages"]
    )
