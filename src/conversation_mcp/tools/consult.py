"""The tool `consult`."""

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.tooling.consults import ConsultResult, take_step
from conversation_mcp.tooling.rendering.consults import render_consult
from conversation_mcp.tooling.sent_along import AttachedArguments
from conversation_mcp.tooling.step_arguments import Options, StepInput
from conversation_mcp.tooling.tool import ASKS, Tool
from conversation_mcp.turns.ask import Caller
from conversation_mcp.workflows.names import SHIPPED


class ConsultInput(StepInput):
    """A step of any workflow."""

    workflow: str = Field(description=", ".join(SHIPPED))
    options: Options = Field(default={}, description="Of the workflow.")


async def consult(given: ConsultInput, app: App, caller: Caller) -> ConsultResult:
    """Take a step of a workflow; at its end, another model is asked."""
    call = f"consult with workflow {given.workflow}"
    return await take_step(given, app, caller, given.workflow, given.options, call)


CONSULT = Tool(
    name="consult",
    mode="chat",
    describes=frozenset({AttachedArguments}),
    run=consult,
    render=render_consult,
    input_model=ConsultInput,
    title="",
    description=(
        "Work in a workflow: each step is checked and kept, the answer says what to do next, and at the end another "
        "model judges the work with its files."
    ),
    hints=ASKS,
    usage="consult takes the steps of a workflow.",
)
