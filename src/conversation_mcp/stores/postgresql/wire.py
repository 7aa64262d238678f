"""Functions of the database, called with values that go as they are.

A cursor looks for the type of every value anew, which takes longer than all else that the program does for a call.
"""

import struct
from collections.abc import Sequence
from datetime import datetime

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format

Value = str | int | datetime | Sequence[str] | Sequence[int] | None
"""No text has a NUL."""
TEXT_OID = 25
ARRAY_HEAD = struct.Struct("!5i")
"""Dimensions, whether a value is missing, their type, how many, and the number of the first."""


class Function:
    """A function of so many values that returns a text."""

    def __init__(self, name: str, values: int) -> None:
        self._statement = f"SELECT {name}({', '.join(f'${number + 1}' for number in range(values))})".encode()

    def call(self, connection: psycopg.Connection[tuple[object, ...]], values: Sequence[Value]) -> str:
        """Call it, in one journey to the database and back; blocks.

        Raises:
            psycopg.Error: the database refused it, or the connection is broken.
        """
        sent, formats = zip(*map(_encoded, values), strict=True)
        result = connection.pgconn.exec_params(self._statement, sent, param_formats=formats)
        if result.status == ExecStatus.TUPLES_OK:
            return (result.get_value(0, 0) or b"").decode()
        error = error_from_result(result)
        if connection.pgconn.status == ConnStatus.BAD and not isinstance(error, psycopg.OperationalError):
            raise psycopg.OperationalError(str(error))
        raise error


def _encoded(value: Value) -> tuple[bytes | None, Format]:
    """Return what is sent. Arrays of texts go in their binary form, because their written one has to be escaped."""
    match value:
        case None:
            return None, Format.TEXT
        case [str(), *_]:
            return _texts([str(text).encode() for text in value]), Format.BINARY
        case _:
            return _written(value).encode(), Format.TEXT


def _written(value: Value) -> str:
    match value:
        case str():
            return value
        case datetime():
            return value.isoformat()
        case Sequence():
            return f"{{{','.join(map(str, value))}}}"
        case _:
            return str(value)


def _texts(texts: Sequence[bytes]) -> bytes:
    parts = [ARRAY_HEAD.pack(1, 0, TEXT_OID, len(texts), 1)]
    for text in texts:
        parts += len(text).to_bytes(4), text
    return b"".join(parts)
