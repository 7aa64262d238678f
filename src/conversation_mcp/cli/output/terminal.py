"""The streams of the command line: stdout for results, stderr for messages to the user."""

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
"""The note on an error that occurred after a part of a document was printed."""
BIDI_CONTROLS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Characters that reverse the rest of the line if a text leaves them open."""
CONTROLS = dict.fromkeys(code for code in (*range(0x20), *range(0x7F, 0xA0), *BIDI_CONTROLS) if chr(code) not in "\n\t")


def replace_closed_streams() -> None:
    """Replace streams that the caller closed with the null device, so that no file gets their descriptors."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", closefd=False))


def tolerate_narrow_encodings() -> None:
    """Print a question mark, instead of failing, for a character that the terminal's code page lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def discard_output() -> None:
    """Discard further output after the reader of the pipe has left; else the flush at exit would fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def is_anybody_reading() -> bool:
    """Tell whether stdout was open when the program started."""
    return sys.__stdout__ is not None


def is_terminal() -> bool:
    """Tell whether stdout is a terminal."""
    return sys.stdout.isatty()


def say(text: str) -> None:
    """Print a message for the user on stderr."""
    sys.stderr.write(f"{printable(text) if sys.stderr.isatty() else text}\n")
    sys.stderr.flush()


def put(text: str, end: str = "\n") -> None:
    """Print a result on stdout."""
    sys.stdout.write((printable(text) if is_terminal() else text) + end)
    sys.stdout.flush()


def put_json(data: object) -> None:
    """Print one JSON document."""
    put(json.dumps(data, indent=2, ensure_ascii=False))


def put_json_list(name: str, parts: Iterable[Iterable[object]], rest: Callable[[], Mapping[str, object]]) -> None:
    """Print one JSON document that begins with a list, part by part; `rest` returns the members after it.

    Nothing is printed before the first part, so that an early error leaves no partial document.
    """
    head = f'{{\n  "{name}": ['
    before = f"{head}\n"
    try:
        for part in parts:
            if texts := [json.dumps(item, indent=2, ensure_ascii=False) for item in part]:
                put(before + ",\n".join(textwrap.indent(text, "    ") for text in texts), end="")
                before = ",\n"
    except Exception as error:
        if before == ",\n":  # a part is printed already
            error.add_note(HALF_TOLD)
        raise
    end = "\n  ]" if before == ",\n" else f"{head}]"
    put(",".join((end, *_members(rest()))) + "\n}")


def _members(data: Mapping[str, object]) -> Iterable[str]:
    for name, value in data.items():
        yield f'\n  "{name}": ' + textwrap.indent(json.dumps(value, indent=2, ensure_ascii=False), "  ").lstrip()


def put_fields(rows: Iterable[Iterable[object]]) -> None:
    """Print a line of tab-separated fields for each row, for programs."""
    if lines := ["\t".join(" ".join(str(field).split()) for field in row) for row in rows]:
        put("\n".join(lines))


def printable(text: str) -> str:
    """Return the text without control characters: answers quote strangers, whose text could command the terminal."""
    return text.translate(CONTROLS)


def console(*, stderr: bool = False) -> "Console":
    """Return a rich console on stdout or stderr, with all interpretation of text switched off."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)
