"""Each workflow as a tool of its own name, made from its definition."""

import logging
from collections.abc import Awaitable, Callable, Collection, Iterator
from copy import copy
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, create_model
from pydantic.alias_generators import to_snake
from pydantic.fields import FieldInfo

from conversation_mcp.app import App
from conversation_mcp.tooling.consults import ConsultResult, take_step
from conversation_mcp.tooling.rendering.consults import render_consult
from conversation_mcp.tooling.sent_along import AttachedArguments
from conversation_mcp.tooling.step_arguments import StepInput, Texts
from conversation_mcp.tooling.tool import ASKS, READS, Input, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.workflows.definition import CONFIDENCE, Option, Workflow
from conversation_mcp.workflows.library import Workflows
from conversation_mcp.workflows.names import SHIPPED

logger = logging.getLogger(__name__)
TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "list": Texts}
AnyTool = Tool[Any, ConsultResult]
Run = Callable[[Any, App, Caller], Awaitable[ConsultResult]]


def workflow_tools(folder: Path | None, taken: Collection[str]) -> Iterator[AnyTool]:
    """Yield a tool for each workflow whose file is valid and whose name is free; the others are named in the log."""
    for file in Workflows(folder).all():
        if file.definition is None:
            logger.warning("the workflow %s is no tool: %s", file.name, file.problem)
        elif file.name in taken:
            logger.warning("the workflow %s is no tool: another tool has its name", file.name)
        elif clash := _clash(file.definition):
            logger.warning("the workflow %s is no tool: its option %s is an argument of every step", file.name, clash)
        else:
            yield tool_for(file.definition, describes=file.name == SHIPPED[0])


@cache
def shipped_tool(name: str) -> AnyTool:
    """Return the tool of a workflow of the package."""
    return tool_for(Workflows().find(name), describes=name == SHIPPED[0])


def tool_for(definition: Workflow, *, describes: bool) -> AnyTool:
    """Return the tool of a workflow; one of them `describes` the arguments that all have."""
    is_template = definition.kind == "template"
    return Tool(
        name=definition.name,
        mode="chat",
        describes=frozenset({AttachedArguments} if describes else ()),
        run=_template(definition.name) if is_template else _steps(definition),
        render=render_consult,
        input_model=TemplateInput if is_template else _input_model(definition, describes=describes),
        title="",
        description=definition.summary,
        hints=READS if is_template else ASKS,
    )


class TemplateInput(Input):
    """The words that a template is filled with."""

    prompt: str
    """The words of the user."""


def _template(name: str) -> Run:
    async def fill(given: TemplateInput, app: App, caller: Caller) -> ConsultResult:
        step = StepInput.model_construct(step=given.prompt, step_number=1, total_steps=1, next=False, findings="")
        return await take_step(step, app, caller, name, {}, name)

    return fill


def _steps(definition: Workflow) -> Run:
    fields = {to_snake(option.name): option.name for option in definition.options}

    async def step(given: Input, app: App, caller: Caller) -> ConsultResult:
        said = {name: value for name, value in given if name in StepInput.model_fields}
        options = {name: value for field, name in fields.items() if (value := getattr(given, field)) is not None}
        taken = StepInput.model_construct(**said)  # validated as arguments of the tool
        return await take_step(taken, app, caller, definition.name, options, definition.name)

    return step


def _input_model(definition: Workflow, *, describes: bool) -> type[Input]:
    """Return the arguments that make sense in the workflow: those of every step, and its options."""
    unused = frozenset(_unused(definition))
    fields: dict[str, Any] = {
        name: (field.annotation, field if describes else _undescribed(field))
        for name, field in StepInput.model_fields.items()
        if name not in unused
    }
    fields |= {to_snake(option.name): _field(option) for option in definition.options}
    scale = definition.confidence.scale
    if scale and scale != CONFIDENCE:
        words: Any = Annotated[Literal[scale], scale]
        fields["confidence"] = (words | None, None)
    return create_model(
        f"{definition.name}_input", __base__=Input, __module__=__name__, __doc__=definition.summary, **fields
    )


def _undescribed(field: FieldInfo) -> FieldInfo:
    plain = copy(field)
    plain.description = None
    return plain


def _unused(definition: Workflow) -> Iterator[str]:
    if definition.validation.ask == "never":
        yield from ("validate_it", "model", "effort", "images")
    if not definition.confidence.scale:
        yield "confidence"
    if not any(rule.when.branching for rule in definition.guidance):
        yield from ("branch", "branch_from")


def _field(option: Option) -> Any:  # noqa: ANN401 -- a field as pydantic makes it
    is_choice = bool(option.choices) and option.type == "string"
    # typing takes unions of the same words in another order for one and the same; the second keeps this order.
    kind: Any = Annotated[Literal[option.choices], option.choices] if is_choice else TYPES[option.type]
    about = None if is_choice else option.about
    return kind | None, Field(default=None, alias=option.name, description=about)


def _clash(definition: Workflow) -> str:
    """Return an option that has the name of an argument of every step."""
    known = {field.alias or name for name, field in StepInput.model_fields.items()} | set(StepInput.model_fields)
    return next((each.name for each in definition.options if {each.name, to_snake(each.name)} & known), "")
