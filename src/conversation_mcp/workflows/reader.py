"""The reader of a definition file: TOML between two lines of `+++`, and the prompt below."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic import ValidationError

from conversation_mcp.errors.validation import requirement
from conversation_mcp.text import nearest
from conversation_mcp.workflows.checks import NAME, problems_in
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.places import line_of

MAX_BYTES = 262_144
MAX_PROBLEMS = 5
FENCE = "+++"
FRONT = re.compile(r"\+\+\+[ \t]*\n(?P<facts>.*?)^\+\+\+[ \t]*(?:\n(?P<prompt>.*))?\Z", re.DOTALL | re.MULTILINE)
TOML_LINE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")
INCLUDES = frozenset({"include", "includes", "import", "imports", "extends", "inherit"})
FOUND_ELSEWHERE = {"name": "the name is that of the file", "prompt": "the prompt stands below the second +++"}


class Problem(NamedTuple):
    """What is wrong with a file, and where."""

    line: int
    field: str
    what: str

    def __str__(self) -> str:
        field = f"{self.field}: " if self.field else ""
        return f"{self.line}: {field}{self.what}"


def read_definition(data: bytes, name: str) -> Workflow | tuple[Problem, ...]:
    """Return the definition, or what is wrong with it, at most the first few problems."""
    if not NAME.fullmatch(name):
        return (Problem(1, "", "the name of the file must be lower-case letters, digits, - and _, at most 32"),)
    if len(data) > MAX_BYTES:
        return (Problem(1, "", f"the file has more than {MAX_BYTES // 1024} KiB"),)
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        return (Problem(data.count(b"\n", 0, error.start) + 1, "", "the file is not UTF-8"),)
    parts = FRONT.match(text)
    if parts is None:
        missing = f"must begin with a line {FENCE}, then TOML, then another line {FENCE}, then the prompt"
        return (Problem(1, "", f"the file {missing}"),)
    return _definition(parts["facts"], (parts["prompt"] or "").strip(), name)


def _definition(facts: str, prompt: str, name: str) -> Workflow | tuple[Problem, ...]:
    try:
        given = tomllib.loads(facts)
    except RecursionError:
        return (Problem(2, "", "it is nested too deeply"),)
    except ValueError as error:
        return (_unreadable(str(error), facts),)
    foreign = [Problem(line_of(facts, (field,)) + 1, field, what) for field, what in _elsewhere(given)]
    if foreign:
        return tuple(foreign[:MAX_PROBLEMS])
    try:
        found = Workflow.model_validate({**given, "name": name, "prompt": prompt})
    except ValidationError as error:
        return tuple(_wrong(problem, facts) for problem in error.errors(include_url=False)[:MAX_PROBLEMS])
    except RecursionError:
        return (Problem(2, "", "it is nested too deeply"),)
    # After the TOML come the second fence and the prompt; the first fence moves all lines down by one.
    below = facts.count("\n") + 3
    problems = (
        Problem(below if path[:1] == ("prompt",) else line_of(facts, path) + 1, _dotted(path), what)
        for path, what in problems_in(found)
    )
    return tuple(problems)[:MAX_PROBLEMS] or found


def _elsewhere(given: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for field in given:
        if field in FOUND_ELSEWHERE:
            yield field, f"there is no such field; {FOUND_ELSEWHERE[field]}"
        elif field in INCLUDES:
            yield field, "there is no such field; a definition includes no other file"


def _unreadable(said: str, facts: str) -> Problem:
    found = TOML_LINE.search(said)
    line = int(found[1]) if found and found[1] else facts.count("\n") or 1
    what = TOML_LINE.sub("", said).strip()[:200] or "cannot be read"
    return Problem(line + 1, "", f"it is not TOML: {what[0].lower()}{what[1:]}")


def _wrong(problem: Any, facts: str) -> Problem:  # noqa: ANN401 -- a problem as pydantic describes it
    path = tuple(problem["loc"])
    what = requirement(problem)
    if problem["type"] == "extra_forbidden":
        near = nearest(str(path[-1]), _known(path))
        what = "there is no such field" + (f"; did you mean {near}?" if near else "")
    return Problem(line_of(facts, path) + 1, _dotted(path), what)


def _known(path: tuple[str | int, ...]) -> list[str]:
    """Return the fields of the record in which an unknown one stands."""
    model: Any = Workflow
    for part in path[:-1]:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        model = _record_in(field.annotation) if field else model
    return [field.alias or name for name, field in model.model_fields.items()]


def _record_in(annotation: Any) -> Any:  # noqa: ANN401 -- a type of whatever form
    parts = [annotation]
    for part in parts:
        if hasattr(part, "model_fields"):
            return part
        parts += getattr(part, "__args__", ())
    return Workflow


def _dotted(path: tuple[str | int, ...]) -> str:
    """Return the place as a reader counts: `guidance 2, when.confidence`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f" {part + 1}"
        else:
            text += (", " if text[-1:].isdigit() else "." if text else "") + part
    return text
