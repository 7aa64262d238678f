"""The one command that is typed all the time, without the parser, which takes longer than the command itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VALUED = frozenset({"--limit", "--logs-dir"})


@dataclass
class ListArguments:
    """The arguments of `list`."""

    limit: int | None = None
    logs_dir: Path | None = None
    as_json: bool = False


def quick_list(arguments: Sequence[str]) -> ListArguments | None:
    """Return the arguments of `list`; None for other commands, and for whatever the parser should judge."""
    if not arguments or arguments[0] != "list":
        return None
    given, left = ListArguments(), [part for argument in arguments[1:] for part in _parts(argument)]
    while left:
        match left.pop(0):
            case "--json":
                given.as_json = True
            case "--limit" if left and left[0].isascii() and left[0].isdigit():
                given.limit = int(left.pop(0))
            case "--logs-dir" if left and not left[0].startswith("-"):
                given.logs_dir = Path(left.pop(0))
            case _:
                return None
    return given


def _parts(argument: str) -> list[str]:
    """Return name and value of `--name=value`, the value as nothing that could be a name."""
    name, is_one, value = argument.partition("=")
    return [name, value] if name in VALUED and is_one and value else [argument]
