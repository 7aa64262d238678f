"""What a failure of the database means, in words without addresses or statements."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from conversation_mcp.errors import DatabaseError

PROBLEMS = {
    "25006": "the database is read-only",
    "3D000": "there is no such database",
    "42501": "the role of the URL may not use the tables",
    "42P01": "the database has no tables for conversations yet",
    "53100": "the disk of the database is full",
    "53300": "the database has no connection left",
    "55P03": "a lock of the database was not free in time",
    "57014": "the database took too long",
    "57P01": "the database was shut down",
    "57P03": "the database is starting or shutting down",
}
CLASSES = {"28": "the database refuses the role or password of the URL", "53": "the database has no resources left"}
REFUSALS = {
    "3D000": r'database ".*" does not exist',
    "28000": r'role ".*" does not exist|authentication failed|no password supplied|pg_hba\.conf',
    "53300": r"too many clients|too many connections|connection slots",
    "57P03": r"is (starting up|shutting down|not (yet )?accepting connections)|recovery mode",
}
"""Who is refused a connection gets no code of an error, only its text, in English unless the server speaks another."""


@contextmanager
def explained(place: str) -> Generator[None]:
    """Raise DatabaseError in place of the driver's errors."""
    try:
        yield
    except psycopg.Error as error:
        raise DatabaseError(place, problem_of(error)) from error


def problem_of(error: psycopg.Error) -> str:
    """Return what went wrong."""
    state = error.sqlstate or _state_of_refusal(str(error))
    if problem := PROBLEMS.get(state) or CLASSES.get(state[:2]):
        return problem
    if state:
        return f"the database refused a statement (SQLSTATE {state})"
    return "the database cannot be reached, or the connection to it broke"


def _state_of_refusal(text: str) -> str:
    return next((state for state, pattern in REFUSALS.items() if re.search(pattern, text)), "")
