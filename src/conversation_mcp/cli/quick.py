"""Quick parsing of `serve` and `list`, the commands that are started most, without the import of the full parser.

Importing it takes longer than a list, and is a noticeable part of the start of a server.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class ListArguments:
    """The plain arguments of `list`; with any other one the full parser is used."""

    limit: int | None = None
    logs_dir: Path | None = None
    as_json: bool = False


def quick_serve(arguments: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `serve`, with or without that name; None if the full parser should decide."""
    options: dict[str, object] = {}
    documents: list[Path] = []
    given = arguments[1:] if arguments[:1] == ["serve"] else arguments
    for name, value in _pairs(given, ("--logs-dir", "--documents", "--tools")):
        if not _is_plain(value):  # also every other argument, which comes without a value
            return None
        match name:
            case "--logs-dir":
                options["logs_dir"] = Path(value)
            case "--tools":
                options["tools"] = value
            case _:
                options["documents"] = documents
                documents.append(Path(value))
    return options


def quick_list(arguments: Sequence[str]) -> ListArguments | None:
    """Return the arguments of `list`; None for other commands, and if the full parser should decide."""
    if arguments[:1] != ["list"]:
        return None
    given = ListArguments()
    for name, value in _pairs(arguments[1:], ("--limit", "--logs-dir")):
        if name == "--json":
            given.as_json = True
        elif name == "--limit" and value.isascii() and value.isdigit():  # int() fails at ², isdigit() not
            given.limit = int(value)
        elif name == "--logs-dir" and _is_plain(value):
            given.logs_dir = Path(value)
        else:
            return None
    return given


def _pairs(arguments: Sequence[str], valued: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each option with its value, from `--name value` or `--name=value`; any other argument with an empty one."""
    left = iter(arguments)
    for argument in left:
        name, is_one, value = argument.partition("=")
        if name not in valued:
            yield argument, ""
        else:
            yield name, value if is_one else next(left, "")


def _is_plain(value: str) -> bool:
    """Tell whether the value cannot be mistaken for an option."""
    return bool(value) and not value.startswith("-")
