"""What goes to the person at a terminal, and what to the program behind a pipe."""

import json
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

HALF_TOLD = "a part of the document is printed"
"""The note of an error that came while a document was being printed."""
BIDI_CONTROLS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Left open in one text they turn the rest of the line around."""
CONTROLS = dict.fromkeys(code for code in (*range(0x20), *range(0x7F, 0xA0), *BIDI_CONTROLS) if chr(code) not in "\n\t")


def replace_closed_streams() -> None:
    """Put nothing in the place of streams that the caller closed, so that no file gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", closefd=False))


def tolerate_narrow_encodings() -> None:
    """Let a character that the terminal's code page lacks become a question mark, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def discard_output() -> None:
    """Let what is still to be printed go nowhere, after the reader of the pipe has left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_anybody_reading() -> bool:
    """Tell whether there was a stdout when the program began."""
    return sys.__stdout__ is not None


def is_terminal() -> bool:
    """Tell whether a person reads stdout."""
    return sys.stdout.isatty()


def say(text: str) -> None:
    """Print a line for the person, not for the program behind the pipe."""
    sys.stderr.write(f"{printable(text) if sys.stderr.isatty() else text}\n")
    sys.stderr.flush()


def put(text: str, end: str = "\n") -> None:
    """Print what was asked for."""
    sys.stdout.write((printable(text) if is_terminal() else text) + end)
    sys.stdout.flush()


def put_json(data: object) -> None:
    """Print one JSON document."""
    put(json.dumps(data, indent=2, ensure_ascii=False))


def put_json_list(name: str, parts: Iterable[Iterable[object]], rest: Callable[[], Mapping[str, object]]) -> None:
    """Print one JSON document that begins with a list, part by part; `rest` is asked for what follows at the end.

    Nothing is printed before there is a first part, so that what fails at once leaves no half document.
    """
    head = f'{{\n  "{name}": ['
    before = f"{head}\n"
    try:
        for part in parts:
            if texts := [json.dumps(item, indent=2, ensure_ascii=False) for item in part]:
                put(before + ",\n".join(textwrap.indent(text, "    ") for text in texts), end="")
                before = ",\n"
    except Exception as error:
        if before == ",\n":
            error.add_note(HALF_TOLD)
        raise
    end = "\n  ]" if before == ",\n" else f"{head}]"
    put(",".join((end, *_members(rest()))) + "\n}")


def _members(data: Mapping[str, object]) -> Iterable[str]:
    for name, value in data.items():
        yield f'\n  "{name}": ' + textwrap.indent(json.dumps(value, indent=2, ensure_ascii=False), "  ").lstrip()


def put_fields(rows: Iterable[Iterable[object]]) -> None:
    """Print a line for each row, its fields with tabs between them, for programs."""
    if lines := ["\t".join(" ".join(str(field).split()) for field in row) for row in rows]:
        put("\n".join(lines))


def printable(text: str) -> str:
    """Return the text without the characters that command a terminal; answers quote strangers."""
    return text.translate(CONTROLS)


def console(*, stderr: bool = False) -> "Console":
    """Return rich's view of stdout, or of stderr: its width and whether it has colours."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)
