"""What a value must be, in words. They replace the sentences of pydantic, which are not written for users."""

import re
from collections.abc import Mapping
from typing import Any

WANTED = {
    "string_type": "must be a string",
    "path_type": "must be a path",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "model_type": "must be {}",
    "dict_type": "must be {}",
    "missing": "is missing",
    "extra_forbidden": "is not known",
}
LIMITS = {
    "ge": "must be at least {:,.15g}",
    "gt": "must be more than {:,.15g}",
    "le": "must be at most {:,.15g}",
    "lt": "must be less than {:,.15g}",
    "min_length": "must be longer",
    "max_length": "must not be longer than {:,}",
}
CHOICES = re.compile(r"\^\(([\w|]+)\)\$")


def requirement(problem: Mapping[str, Any], *, mapping: str = "a table") -> str:
    """Return what the rejected value must be; `mapping` is the word for a mapping in its file format."""
    context: Mapping[str, Any] = problem.get("ctx") or {}
    if "error" in context:
        return str(context["error"])
    if "expected" in context:
        return f"must be {context['expected']}"
    if found := CHOICES.fullmatch(str(context.get("pattern", ""))):
        return f"must be one of {', '.join(found[1].split('|'))}"
    limits = (text.format(context[name]) for name, text in LIMITS.items() if name in context)
    return WANTED.get(problem["type"], "").format(mapping) or next(limits, "is not valid")
