"""Coercion of arguments: what clients and models really send for an optional argument, a number or a flag."""

import re
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from conversation_mcp.tooling.tool import AS_WRITTEN

FILLERS = frozenset({"wait_for_previous", "random_string", "_meta"})
"""Arguments that clients add by themselves, although the tool has none of that name."""
NOTHING = frozenset({"", "null", "undefined", "none", "[]", "{}"})
"""Texts that stand for an argument that is not set, in upper or lower case."""
WHOLE = re.compile(r"[+-]?[0-9]{1,15}(?:\.0*)?")
"""A whole number as text; models also write `20.0`."""
UNIONS = (Union, UnionType)
FLAGS = {"true": True, "false": False}


def is_unset(field: FieldInfo, value: object) -> bool:
    """Tell whether the value only means that an optional argument is not set."""
    if field.is_required():
        return False
    if value is None or value == {}:
        return True
    if AS_WRITTEN in field.metadata:
        # Of a title "null" can be meant, of tags only the empty list, which removes them all.
        means_it = value in ([], "[]") if tuple in _kinds(field.annotation) else isinstance(value, str)
        if means_it:
            return False
    return value == [] or (isinstance(value, str) and value.strip().lower() in NOTHING)


def coerced(field: FieldInfo, value: object) -> object:
    """Return the value as the whole number or flag that it stands for, if the field is one; else unchanged."""
    kinds = _kinds(field.annotation)
    if int in kinds:
        return _whole_number(value)
    if bool in kinds and isinstance(value, str):
        return FLAGS.get(value.strip().lower(), value)
    return value


def _whole_number(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and WHOLE.fullmatch(text := value.strip()):
        return int(text.partition(".")[0])
    return value


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
