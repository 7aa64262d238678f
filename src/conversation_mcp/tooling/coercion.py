"""Coercion of arguments: what clients and models really send for an optional argument, a number or a flag."""

import json
import re
from collections.abc import Container, Mapping
from types import UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin

from pydantic.fields import FieldInfo

from conversation_mcp.tooling.tool import AS_WRITTEN

FILLERS = frozenset({
    "wait_for_previous", "random_string", "_meta", "dummy", "__arg1", "toolCallId", "task_progress", "security_risk",
})  # fmt: skip
"""Arguments that clients add by themselves, although the tool has none of that name."""
WRAPPERS = frozenset({"args", "arguments", "input", "params", "parameters", "kwargs"})
"""Arguments in which some models put all the others, if a tool has none of that name."""
NOTHING = frozenset({"", "null", "undefined", "none", "[]", "{}"})
"""Texts that stand for an argument that is not set, in upper or lower case."""
WHOLE = re.compile(r"[+-]?[0-9]{1,15}(?:\.0*)?")
"""A whole number as text; models also write `20.0`."""
UNIONS = (Union, UnionType)
FLAGS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def is_unset(field: FieldInfo, value: object) -> bool:
    """Tell whether the value only means that an optional argument is not set."""
    if field.is_required():
        return False
    if AS_WRITTEN in field.metadata and _is_meant(field, value):
        return False
    return means_nothing(value)


def _is_meant(field: FieldInfo, value: object) -> bool:
    """Tell whether a value counts literally: a title may be "null", and only an empty list removes all tags."""
    if tuple in _kinds(field.annotation):
        return isinstance(value, list) or value == "[]"
    return isinstance(value, str)


def means_nothing(value: object) -> bool:
    """Tell whether a value holds nothing: it is empty, a word for nothing, or a list of such."""
    if isinstance(value, list):
        return all(map(means_nothing, cast("list[object]", value)))
    return value is None or value == {} or (isinstance(value, str) and value.strip().lower() in NOTHING)


def unwrapped(arguments: Mapping[str, Any], known: Container[str]) -> Mapping[str, Any]:
    """Return the arguments that a model put into a single one, if the tool does not know that; else unchanged."""
    names = [name for name in arguments if name not in FILLERS]
    if len(names) != 1 or names[0] in known or names[0] not in WRAPPERS:
        return arguments
    inner = arguments[names[0]]
    try:
        inner = json.loads(inner) if isinstance(inner, str) else inner
    except (ValueError, RecursionError):
        return arguments
    return cast("Mapping[str, Any]", inner) if isinstance(inner, dict) else arguments


def coerced(field: FieldInfo, value: object) -> object:
    """Return the value as the whole number, flag or choice that it stands for, if the field is one; else unchanged."""
    kinds = _kinds(field.annotation)
    said = str(value).strip().lower() if isinstance(value, str | int) else ""
    if int in kinds:
        return _whole_number(value)
    if bool in kinds:
        return FLAGS.get(said, value)
    return said if said in choices_of(field.annotation) else value


def _whole_number(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and WHOLE.fullmatch(text := value.strip()):
        return int(text.partition(".")[0])
    return value


def choices_of(annotation: Any) -> tuple[str, ...]:  # noqa: ANN401 -- whatever an annotation may be
    """Return the words that an annotation allows, in order."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(choice for part in get_args(annotation) for choice in choices_of(part))


def _kinds(annotation: Any) -> frozenset[Any]:  # noqa: ANN401 -- whatever an annotation may be
    """Return the types that an annotation allows, without their metadata."""
    parts = get_args(annotation)
    if not parts:
        return frozenset({annotation})
    if hasattr(annotation, "__metadata__"):
        return _kinds(parts[0])
    if get_origin(annotation) in UNIONS:
        return frozenset(kind for part in parts for kind in _kinds(part))
    return frozenset({get_origin(annotation)})
