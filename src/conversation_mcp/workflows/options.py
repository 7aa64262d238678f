"""The options of a workflow: which were given, which hold, and whether they are valid."""

from collections.abc import Mapping, Sequence
from itertools import compress
from operator import attrgetter
from typing import cast

from pydantic import JsonValue
from pydantic.alias_generators import to_camel

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.text import listed, nearest
from conversation_mcp.workflows.definition import Option, Workflow

OPTIONS = Argument("options")
REVISES = attrgetter("revises")
MAX_ITEMS, MAX_CHARS = 200, 20_000
KINDS = {"string": "a string", "integer": "a whole number", "boolean": "true or false", "list": "a list of strings"}
Options = Mapping[str, JsonValue]


def checked_options(definition: Workflow, given: Mapping[str, object], *, is_first: bool) -> dict[str, JsonValue]:
    """Return the given options under their own names; at step 1, with the defaults of the others.

    Raises:
        InvalidInputError: an option does not exist, is given twice, or its value is not valid.
    """
    found: dict[str, JsonValue] = {}
    for spelled, value in given.items():
        name = spelled if definition.option(spelled) else to_camel(spelled)
        option = definition.option(name)
        if option is None:
            raise _unknown(definition, spelled)
        if name in found:
            raise InvalidInputError(OPTIONS, f" has {name} twice, in two spellings; send it once.")
        if value is None:
            continue
        if problem := problem_with(option, value):
            raise InvalidInputError(OPTIONS, f".{name} {problem}.")
        found[name] = (
            list(cast("tuple[JsonValue, ...]", value)) if isinstance(value, tuple) else cast("JsonValue", value)
        )
    if is_first:
        defaults = {option.name: option.default for option in definition.options if option.default is not None}
        return {**defaults, **found}
    return found


def held_options(definition: Workflow, steps: Sequence[WorkflowStep]) -> dict[str, JsonValue]:
    """Return the options that hold from step 1 on: those of step 1, as steps that revise it changed them."""
    held: dict[str, JsonValue] = {}
    firsts = {1}
    revising = compress(steps, map(REVISES, steps))
    for step in (*steps[:1], *revising):
        if step.step_number == 1 or step.revises in firsts:
            firsts.add(step.step_number)
            held |= step.options or {}
    return {name: value for name, value in held.items() if (found := definition.option(name)) is None or found.kept}


def check_kept(definition: Workflow, given: Options, held: Options) -> None:
    """Refuse an option of a later step that differs from what holds since step 1."""
    for name, value in given.items():
        option = definition.option(name)
        if option and option.kept and value != held.get(name):
            since = f"is {_shown(held[name])} since step 1" if name in held else "is an option of step 1"
            raise InvalidInputError(
                OPTIONS, f".{name} {since}: leave it out, or send a step with ", Argument("revises"), " 1 to change it."
            )


def check_required(definition: Workflow, options: Options, *, is_first: bool, is_last: bool) -> None:
    """Refuse a step that lacks a required option."""
    for option in definition.options:
        is_due = option.required == "always" or option.required in {
            "first" if is_first else "",
            "last" if is_last else "",
        }
        if is_due and option.name not in options:
            raise InvalidInputError(OPTIONS, f".{option.name} is missing: send {_wanted(option)}. {option.about}")


def problem_with(option: Option, value: object) -> str:
    """Return what the value must be instead, or nothing if it is valid."""
    fits = {
        "string": isinstance(value, str),
        # A bool is an int to Python; beyond this bound, clients in JavaScript lose digits.
        "integer": type(value) is int and abs(value) < 1 << 53,
        "boolean": isinstance(value, bool),
        "list": _is_list(value),
    }[option.type]
    if not fits:
        return f"must be {_wanted(option)}"
    if isinstance(value, str) and len(value) > MAX_CHARS:
        return f"must not be longer than {MAX_CHARS:,} characters"
    if option.choices:
        chosen = cast("list[str]", value) if isinstance(value, list) else [value]
        if wrong := [each for each in chosen if each not in option.choices]:
            return f"must be {_wanted(option)}, not {_shown(wrong[0])}"
    return ""


def _is_list(value: object) -> bool:
    if not isinstance(value, list | tuple) or len(cast("list[object]", value)) > MAX_ITEMS:
        return False
    return all(isinstance(each, str) and len(each) <= MAX_CHARS for each in cast("list[object]", value))


def _wanted(option: Option) -> str:
    choices = listed(option.choices, "or")
    if not choices:
        return KINDS[option.type]
    return f"a list of {choices}" if option.type == "list" else choices


def _shown(value: object) -> str:
    return repr(value)[:80]


def _unknown(definition: Workflow, name: str) -> InvalidInputError:
    known = [option.name for option in definition.options]
    if not known:
        return InvalidInputError(f"{definition.name} has no options, so ", OPTIONS, f" cannot have {_shown(name)}.")
    near = nearest(name, known)
    hint = f"Did you mean {near}?" if near else f"It has {listed(known)}."
    return InvalidInputError(OPTIONS, f" cannot have {_shown(name)}: {definition.name} has no such option. {hint}")
