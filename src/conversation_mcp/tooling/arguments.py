"""The arguments of a call, parsed to a tool's input or refused with what to change."""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.errors.validation import requirement
from conversation_mcp.records.record import Record
from conversation_mcp.text import nearest, shorten
from conversation_mcp.tooling.coercion import FILLERS, choices_of, coerced, is_unset, means_nothing, unwrapped
from conversation_mcp.tooling.sent_along import AttachedArguments
from conversation_mcp.tooling.tool import Input, Tool

GivenT = TypeVar("GivenT", bound=Input)
ResultT = TypeVar("ResultT", bound=Record)

SHOWN_PROBLEMS = 3
SHOWN_VALUE_CHARS = 60


def parse(tool: Tool[GivenT, ResultT], arguments: Mapping[str, Any]) -> GivenT:
    """Return the tool's input.

    Raises:
        InvalidInputError: an argument is unknown, missing or wrong; the message names it and what is right.
    """
    try:
        return tool.input_model.model_validate(_by_field(tool, arguments), by_alias=False, by_name=True)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        # The pieces stay apart, because the argument's name is replaced where the error is shown elsewhere.
        _, *pieces = (piece for problem in problems[:SHOWN_PROBLEMS] for piece in ("; ", *_pieces(tool, problem)))
        raise InvalidInputError(*pieces, ".") from None


def wire_name(tool: Tool[Any, Any], field: str) -> str:
    """Return the name of an argument as the schema shows it."""
    return tool.input_model.model_fields[field].alias or field


def _by_field(tool: Tool[Any, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values by field: names in either spelling, without fillers and values that stand for nothing."""
    fields = tool.input_model.model_fields
    spellings = {_plain(spelling): name for name in fields for spelling in (name, wire_name(tool, name))}
    given: dict[str, Any] = {}
    for name, value in unwrapped(arguments, fields).items():
        if _plain(name) not in spellings and (name in FILLERS or means_nothing(value)):
            continue  # a tool that has such an argument gets it
        if _plain(name) not in spellings:
            known = [wire_name(tool, field) for field in fields]
            near = nearest(name, known)
            if tool.opens and name in AttachedArguments.model_fields:
                hint = " Files and images go with the next question of the conversation."
            else:
                hint = f" Did you mean {near!r}?" if near else f" It takes {', '.join(sorted(known))}."
            raise InvalidInputError(
                f"{tool.name} has no argument {shorten(name, SHOWN_VALUE_CHARS)!r}.{hint}", field=name
            )
        field = spellings[_plain(name)]
        if field in given:
            wire = wire_name(tool, field)
            raise InvalidInputError(f"{tool.name} was given {wire!r} in two spellings; give one.", field=wire)
        if not is_unset(fields[field], value):
            given[field] = coerced(fields[field], value)
    return given


def _plain(name: str) -> str:
    """Return a name without what distinguishes its spellings in different languages."""
    return name.replace("_", "").replace("-", "").lower()


def _pieces(tool: Tool[Any, Any], problem: ErrorDetails) -> tuple[str, ...]:
    field = str(problem["loc"][0])
    name = Argument(wire_name(tool, field))
    match problem["type"]:
        case "missing":
            return f"{tool.name} needs the argument '", name, "'"
        case "value_error":
            return name, f" {_custom(problem)}"
        case "literal_error":
            due = f"must be one of {_choices(tool, field)}"
        case _:
            due = _custom(problem)
    return name, f" {due}; got {shorten(repr(problem['input']), SHOWN_VALUE_CHARS)}"


def _custom(problem: ErrorDetails) -> str:
    return requirement(cast("Mapping[str, Any]", problem))


def _choices(tool: Tool[Any, Any], field: str) -> str:
    return ", ".join(choices_of(tool.input_model.model_fields[field].annotation))
