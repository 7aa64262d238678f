"""The common part of the tools that take steps of workflows: the step to the service, and the record of a result."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from anyio import to_thread
from pydantic import JsonValue

from conversation_mcp.app import App
from conversation_mcp.consulting.wanted import Consulted, ConsultState, WantedStep
from conversation_mcp.records.attached import AttachedFile, AttachedImage
from conversation_mcp.records.models import ConversationId
from conversation_mcp.records.record import Record
from conversation_mcp.records.usage import Usage
from conversation_mcp.records.workflow_steps import WorkflowIssue
from conversation_mcp.tooling.fitting import fit
from conversation_mcp.tooling.step_arguments import StepInput
from conversation_mcp.tooling.steps import steps_of
from conversation_mcp.tooling.way_on import way_on
from conversation_mcp.turns.ask import Caller

if TYPE_CHECKING:
    from conversation_mcp.workflows.given import GivenStep


class ConsultResult(Record):
    """A step as it was taken: what to do next, and at the end what another model says."""

    workflow: str
    """The workflow."""
    state: ConsultState
    """`in_progress`: the next step is due. `choice_due`: the user must choose first. `validation_running`: a model is
    being asked. `validated`: it has answered. `finished`: it ended without one. `template`: a text; nothing is kept."""
    conversation_id: str | None = None
    """The conversation that keeps the steps; absent if nothing was kept."""
    step_number: int | None = None
    """The number of the step."""
    total_steps: int | None = None
    """How many steps are expected."""
    guidance: str
    """What to do next, in a few sentences."""
    form: str | None = None
    """At the end: the form in which the result is presented. Of a template: its text."""
    choices: dict[str, tuple[str, ...]] | None = None
    """If the user must choose first: the option, and what it can be."""
    asked: bool
    """Whether another model was asked."""
    why_not_asked: str | None = None
    """At the end: why none was asked."""
    raw_result_text: str | None = None
    """Its answer, without any decoration."""
    provider: str | None = None
    """The provider that was asked."""
    model_used: str | None = None
    """The model that answered."""
    outcome: str | None = None
    """The outcome that its answer names, such as `needs_files`, which keeps the workflow open."""
    needs: tuple[str, ...] | None = None
    """What it says is needed."""
    usage: Usage | None = None
    """Tokens and cost of its answer."""
    issues: tuple[WorkflowIssue, ...] | None = None
    """At the end: the issues of all steps that the severity filter lets through, the most severe first."""
    files: tuple[AttachedFile, ...] | None = None
    """The files that it was sent, and those that were left out, and why."""
    images: tuple[AttachedImage, ...] | None = None
    """The images that it was sent."""
    message_count: int | None = None
    """The number of messages in the conversation now."""
    notices: tuple[str, ...] | None = None
    """Changes of the total, a repeated step, files that were left out, and what a question tells."""
    next_step: str | None = None
    """The last sentence of the text: what to call next."""
    conversation_path: str | None = None
    """The absolute path of conversation.json."""


async def take_step(
    given: StepInput, app: App, caller: Caller, workflow: str, options: Mapping[str, JsonValue], call: str
) -> ConsultResult:
    """Take the step; `call` is how the next one is called."""
    wanted = WantedStep(workflow, _step(given, options), given.conversation_id, given.model, given.effort)
    consulting = await to_thread.run_sync(app.open_consulting)
    return await result_of(await consulting.step(wanted, caller), app, call)


def _step(given: StepInput, options: Mapping[str, JsonValue]) -> "GivenStep":
    from conversation_mcp.workflows.given import GivenStep

    return GivenStep(
        step=given.step,
        step_number=given.step_number,
        total_steps=given.total_steps,
        next=given.next,
        findings=given.findings,
        checked=given.checked,
        files=given.files,
        images=given.images,
        symbols=given.symbols,
        issues=given.issues,
        hypothesis=given.hypothesis,
        confidence=given.confidence,
        options=options,
        revises=given.revises,
        branch=given.branch,
        branch_from=given.branch_from,
        is_validated=given.validate_it,
    )


async def result_of(done: Consulted, app: App, call: str) -> ConsultResult:
    """Return the record of an outcome, with the next step in the words of the tools that are there."""
    turn = done.turn and fit(done.turn, app.settings.max_result_chars)
    step, choice, conversation = done.step, done.choice, done.conversation
    validation = step.validation if step else None
    own = conversation and ConversationId(conversation.conversation_id)
    return ConsultResult.of(
        workflow=done.workflow,
        state=done.state,
        conversation_id=own,
        step_number=step and step.step_number,
        total_steps=step and step.total_steps,
        guidance=done.guidance,
        form=done.form or None,
        choices={choice.option: choice.choices} if choice else None,
        asked=turn is not None,
        why_not_asked=validation and validation.why,
        raw_result_text=turn and turn.raw_result_text,
        provider=turn and turn.provider,
        model_used=turn and turn.model_used,
        outcome=validation and validation.outcome,
        needs=validation and validation.needs,
        usage=turn and turn.usage,
        issues=done.issues or None,
        files=turn and turn.files,
        images=turn and turn.images,
        message_count=turn.message_count if turn else conversation and len(conversation.messages),
        notices=(*done.notices, *((turn and turn.notices) or ())) or None,
        next_step=await _next_step(done, app, call) or None,
        conversation_path=own and app.store.location(own),
    )


async def _next_step(done: Consulted, app: App, call: str) -> str:
    own = done.conversation.conversation_id if done.conversation else ""
    if done.state == "validation_running":
        fetch = steps_of(app.tools).get("fetch")
        return f"Get the answer: {fetch.format(own)}." if fetch else ""
    if done.state == "in_progress" and done.step:
        number = done.step.step_number + 1
        return f"Next: {call}, conversationId {own} and stepNumber {number}."
    if done.state == "choice_due" and done.choice:
        return f"Ask the user, then send step 1 again with their choice as {done.choice.option}."
    if not own:
        return ""
    turn = done.turn
    way = await way_on("chat" if turn else None, turn and turn.provider, turn and turn.requested_model, app)
    searches = [
        tool.name for tool in app.tools if tool.follows and tool.mode == "search" and tool.name not in way.tools
    ]
    search = f"To check it on the web: {searches[0]} with conversationId {own}." if searches else ""
    return " ".join(filter(None, (way.sentence(own), search)))
