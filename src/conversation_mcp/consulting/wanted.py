"""What an agent sends, and what comes of it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from conversation_mcp.records.models import Conversation
from conversation_mcp.records.options import Effort
from conversation_mcp.records.record import Record
from conversation_mcp.records.workflow_steps import WorkflowIssue, WorkflowStep
from conversation_mcp.turns.result import TurnResult

if TYPE_CHECKING:  # tools import this module at the start, and the engine takes long
    from conversation_mcp.workflows.engine import ChoiceDue
    from conversation_mcp.workflows.given import GivenStep

ConsultState = Literal["in_progress", "choice_due", "validation_running", "validated", "finished", "template"]
"""`in_progress`: the next step is due. `choice_due`: the user must choose first. `validation_running`: a model is
being asked. `validated`: it has answered. `finished`: it ended without one. `template`: a text; nothing is kept."""


@dataclass(frozen=True)
class WantedStep:
    """A step, and what belongs to the validation after it."""

    workflow: str
    given: "GivenStep"
    conversation_id: str | None = None
    model: str | None = None
    effort: Effort | None = None

    def key(self, owner: str) -> str:
        """Return the name of this call, by which the same call finds the conversation that it has opened."""
        said = [owner, "step", self.workflow, asdict(self.given), self.model, self.effort]
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return value.data() if isinstance(value, Record) else str(value)


@dataclass(frozen=True)
class Consulted:
    """The outcome of a step."""

    workflow: str
    state: ConsultState
    guidance: str
    conversation: Conversation | None = None
    """The conversation with the step; None if nothing was kept."""
    step: WorkflowStep | None = None
    form: str = ""
    """At the end: the form in which the result is presented."""
    choice: "ChoiceDue | None" = None
    turn: TurnResult | None = None
    """The answer of the model, or that it is awaited."""
    issues: tuple[WorkflowIssue, ...] = ()
    """At the end: the issues that the severity filter lets through."""
    notices: tuple[str, ...] = ()
