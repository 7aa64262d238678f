"""What a failure of the server means, in words without addresses or commands."""

from collections.abc import Generator
from contextlib import contextmanager

from redis import exceptions

from conversation_mcp.errors import DatabaseError

REFUSED = "the server refuses the user or password of the URL, or asks for one"
PROBLEMS: dict[type[Exception], str] = {
    exceptions.AuthenticationError: REFUSED,
    exceptions.BusyLoadingError: "the server is starting",
    exceptions.NoPermissionError: "the user of the URL may not do this on the server",
    exceptions.OutOfMemoryError: "the memory of the server is full",
    exceptions.ReadOnlyError: "the server is a replica, which takes no writes",
    exceptions.TimeoutError: "the server took too long",
    exceptions.ConnectionError: "the server cannot be reached, or the connection to it broke",
}
"""The first that fits is meant: some are kinds of others."""
CODES = {
    "MISCONF": "the server takes no writes because it cannot save to its disk",
    "NOREPLICAS": "the server takes no writes because too few replicas follow it",
    "OOM": "the memory of the server is full",
    "WRONGPASS": REFUSED,
}


@contextmanager
def explained(place: str) -> Generator[None]:
    """Raise DatabaseError in place of the driver's errors."""
    try:
        yield
    except exceptions.RedisError as error:
        raise DatabaseError(place, problem_of(error)) from error


def problem_of(error: exceptions.RedisError) -> str:
    """Return what went wrong."""
    code = str(error).partition(" ")[0]
    if problem := CODES.get(code):
        return problem
    found = next((problem for kind, problem in PROBLEMS.items() if isinstance(error, kind)), None)
    return found or "the server refused a command"
