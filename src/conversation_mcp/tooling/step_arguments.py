"""The arguments of a step of any workflow."""

import json
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue, TypeAdapter, ValidationError, WithJsonSchema

from conversation_mcp.records.options import Effort, text_list
from conversation_mcp.records.workflow_steps import WorkflowIssue
from conversation_mcp.tooling.sent_along import Paths
from conversation_mcp.tooling.tool import Input

ISSUE = "a list such as [{severity: high, description: …, type: …}]; a severity is critical, high, medium or low"


def _texts(value: object) -> object:
    return tuple(text_list(value, 'strings such as ["src/app.py"]'))


def _issues(value: object) -> object:
    try:
        given = json.loads(value) if isinstance(value, str) else value
        return tuple(TypeAdapter(list[WorkflowIssue]).validate_python(given))
    except (ValidationError, ValueError, RecursionError):
        raise ValueError(f"must be {ISSUE}") from None


def _options(value: object) -> object:
    try:
        given = json.loads(value) if isinstance(value, str) else value
        return TypeAdapter(dict[str, JsonValue]).validate_python(given)
    except (ValidationError, ValueError, RecursionError):
        raise ValueError("must be an object with the options of the workflow") from None


Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]
Issues = Annotated[
    tuple[WorkflowIssue, ...],
    BeforeValidator(_issues),
    WithJsonSchema({"type": "array", "items": {"type": "object"}}),
]
Options = Annotated[dict[str, JsonValue], BeforeValidator(_options), WithJsonSchema({"type": "object"})]


class StepInput(Input):
    """A step of a workflow."""

    step: str = Field(description="What it is about; step 1: the request.")
    step_number: int = Field(alias="stepNumber")
    """Its number, from 1; always the next one."""
    total_steps: int = Field(alias="totalSteps")
    """How many steps are expected now; may grow."""
    next: bool
    """Whether another step follows; false ends the workflow."""
    findings: str
    """What was found, new in each step."""
    conversation_id: str | None = Field(default=None, alias="conversationId")
    """Where the steps are kept, as step 1 says, or any stored conversation; a new one if it is absent at step 1."""
    checked: Texts = ()
    """Files that were looked at."""
    files: Paths = ()
    """Files that matter, by absolute path, or git:staged; a model that validates gets them."""
    images: Paths = ()
    """Images that matter, by absolute path."""
    symbols: Texts = ()
    """Functions, classes and the like that matter."""
    issues: Issues = Field(default=(), description="{severity: critical…low, description, type?}")
    hypothesis: str | None = None
    """What you believe by now."""
    confidence: str | None = Field(default=None, description="exploring…certain")
    """How sure you are: exploring, low, medium, high, very_high, almost_certain or certain."""
    revises: int | None = Field(default=None, description="A step to replace.")
    branch: str | None = None
    """The name of another way of doing things."""
    branch_from: int | None = Field(default=None, alias="branchFrom")
    """The step at which a new branch begins."""
    validate_it: Annotated[bool, WithJsonSchema({"type": "boolean"})] = Field(default=True, alias="validate")
    """Whether another model is asked at the end; it is if this is absent."""
    model: str | None = None
    """The model to ask at the end: a name, provider:model, auto:fast, auto:balanced or auto:deep."""
    effort: Annotated[Effort | None, WithJsonSchema({"type": "string"})] = None
    """How hard that model thinks: minimal, low, medium, high or max; the workflow says so if it is absent."""
