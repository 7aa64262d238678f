"""The fields of a record, each with its type and the sentence under it in the code."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from textwrap import dedent
from typing import Any, cast, get_args

from pydantic import BaseModel
from tests.reference.types import words_of

from conversation_mcp.tooling import users, workflow_tools
from conversation_mcp.tooling.step_arguments import StepInput

Model = type[BaseModel]
MAKERS = (users, workflow_tools)


@dataclass(frozen=True)
class FieldOf:
    """One field as it stands in JSON."""

    name: str
    type: str
    always: bool
    words: str


def fields_of(model: Model) -> list[FieldOf]:
    """Return the fields of a record in their order, those of its bases first."""
    schema = model.model_json_schema()
    properties = cast("dict[str, dict[str, Any]]", schema["properties"])
    required = cast("list[str]", schema.get("required", []))
    words = sentences_of(model)
    return [
        FieldOf(name, words_of(properties[name]), name in required, words.get(field, ""))
        for field, name in json_names(model).items()
    ]


def json_names(model: Model) -> dict[str, str]:
    """Return the name in JSON of each field."""
    return {name: field.alias or name for name, field in model.model_fields.items()}


def sentences_of(model: Model) -> dict[str, str]:
    """Return the string that stands under each field in the code. It costs nothing when the program runs."""
    # The arguments of a workflow's tool are made from its definition; those of every step stand in the code.
    found: dict[str, str] = sentences_of(StepInput) if model.__module__ == workflow_tools.__name__ else {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and base is not BaseModel:
            found |= {} if _is_made(base) else _sentences(base)
    return found


def _is_made(model: Model) -> bool:
    """Tell whether the model stands nowhere in the code, because it is made of others."""
    return any(model.__module__ == maker.__name__ and not hasattr(maker, model.__name__) for maker in MAKERS)


def _sentences(model: Model) -> dict[str, str]:
    (parsed,) = ast.parse(dedent(inspect.getsource(model))).body
    body = cast("ast.ClassDef", parsed).body
    found: dict[str, str] = {}
    for pair in pairwise(body):
        match pair:
            case (ast.AnnAssign(target=ast.Name(id=field)), ast.Expr(value=ast.Constant(value=str() as sentence))):
                found[field] = " ".join(sentence.split())
            case _:
                pass
    return found


def records_in(model: Model) -> dict[str, Model]:
    """Return the record and all records in it, by name, in the order in which a reader meets them."""
    found: dict[str, Model] = {}
    waiting = [model]
    for record in waiting:
        found[record.__name__] = record
        waiting += [inner for inner in _models_in(record) if inner not in waiting]
    return found


def _models_in(model: Model) -> Iterator[Model]:
    for field in model.model_fields.values():
        parts: list[Any] = [field.annotation]
        for part in parts:
            parts += get_args(part)
            if isinstance(part, type) and issubclass(part, BaseModel):
                yield part


def summary_of(model: Model) -> str:
    """Return what the record is."""
    return inspect.cleandoc(model.__doc__ or "")
