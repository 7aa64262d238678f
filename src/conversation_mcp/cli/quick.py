"""What is started all the time, without the parser: importing it takes longer than a list, and a part of each start."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass
class ListArguments:
    """The arguments of `list`."""

    limit: int | None = None
    logs_dir: Path | None = None
    as_json: bool = False


def quick_serve(arguments: Sequence[str]) -> Mapping[str, object] | None:
    """Return the options of `serve`, with or without that name; None for whatever the parser should judge."""
    options: dict[str, object] = {}
    documents: list[Path] = []
    given = arguments[1:] if arguments[:1] == ["serve"] else arguments
    for name, value in _pairs(given, ("--logs-dir", "--documents", "--tools")):
        if not _is_plain(value):
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
    """Return the arguments of `list`; None for other commands, and for whatever the parser should judge."""
    if arguments[:1] != ["list"]:
        return None
    given = ListArguments()
    for name, value in _pairs(arguments[1:], ("--limit", "--logs-dir")):
        if name == "--json":
            given.as_json = True
        elif name == "--limit" and value.isascii() and value.isdigit():
            given.limit = int(value)
        elif name == "--logs-dir" and _is_plain(value):
            given.logs_dir = Path(value)
        else:
            return None
    return given


def _pairs(arguments: Sequence[str], valued: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each option with its value, `--name value` or `--name=value`; anything else with none."""
    left = iter(arguments)
    for argument in left:
        name, is_one, value = argument.partition("=")
        if name not in valued:
            yield argument, ""
        else:
            yield name, value if is_one else next(left, "")


def _is_plain(value: str) -> bool:
    """Tell whether this is a value that could not be an option."""
    return bool(value) and not value.startswith("-")
