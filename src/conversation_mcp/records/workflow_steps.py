"""The records of workflow steps. A step is not a message: nobody was asked for it, and it is never sent as one."""

from typing import Literal

from pydantic import JsonValue

from conversation_mcp.records.record import Record

Severity = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")


class WorkflowIssue(Record):
    """A problem that a step found."""

    severity: Severity
    """`critical`, `high`, `medium` or `low`."""
    description: str
    """What is wrong, and where."""
    type: str | None = None
    """Its kind, in the words of the workflow."""


class WorkflowValidation(Record):
    """Whether another model was asked at the end of a workflow."""

    asked: bool
    """Whether a model was asked."""
    why: str | None = None
    """Why none was asked."""
    message_number: int | None = None
    """The number of the message with its answer."""
    outcome: str | None = None
    """The outcome that its answer names, such as `needs_files`, which keeps the workflow open."""
    needs: tuple[str, ...] | None = None
    """What it says is needed, such as files."""


class WorkflowStep(Record):
    """A step of a workflow, as the agent took it."""

    workflow: str
    """The name of the workflow."""
    run: int
    """Which run of a workflow in the conversation it belongs to, from 1."""
    step_number: int
    """Its number in the run, from 1."""
    total_steps: int
    """How many steps the agent expected then."""
    next: bool
    """Whether another step follows."""
    step: str
    """What the step is about; of step 1, the request."""
    findings: str
    """What was found."""
    checked: tuple[str, ...] | None = None
    """Files that were looked at."""
    files: tuple[str, ...] | None = None
    """Files that matter."""
    images: tuple[str, ...] | None = None
    """Images that matter."""
    symbols: tuple[str, ...] | None = None
    """Functions, classes and the like that matter."""
    issues: tuple[WorkflowIssue, ...] | None = None
    """Problems that the step found."""
    hypothesis: str | None = None
    """What the agent believes by now."""
    confidence: str | None = None
    """How sure the agent is, in the words of the workflow."""
    options: dict[str, JsonValue] | None = None
    """The workflow's own arguments: of step 1 with their defaults, of later ones what they gave."""
    revises: int | None = None
    """The number of the earlier step that it replaces."""
    branch: str | None = None
    """The name of the branch that it is on."""
    branch_from: int | None = None
    """The number of the step at which its branch begins; only of the first step on it."""
    after_message: int | None = None
    """How many messages come before it."""
    created_at: str | None = None
    """When it was taken."""
    validation: WorkflowValidation | None = None
    """Of the last step: whether another model was asked; absent until that is settled."""
