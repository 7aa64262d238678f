"""The validation of a run in its conversation: its message, and the answer if it is there already."""

import logging
from collections.abc import Sequence

from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.models import Conversation
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.text import storable
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.engine import settled, state_of, stored_with
from conversation_mcp.workflows.library import Workflows
from conversation_mcp.workflows.message import validation_message
from conversation_mcp.workflows.order import latest_run
from conversation_mcp.workflows.outcome import outcome_of

logger = logging.getLogger(__name__)

Steps = tuple[WorkflowStep, ...]
NO_STEPS: Steps = ()


def run_of(definition: Workflow, steps: Steps) -> Sequence[WorkflowStep]:
    """Return the steps of the latest run."""
    return latest_run(definition.name, steps).steps


def message_for(definition: Workflow, conversation: Conversation) -> str:
    """Return the message that asks a model to validate the latest run; the same as long as no step is added."""
    run = run_of(definition, conversation.workflow_steps or NO_STEPS)
    return validation_message(definition, run, seed=f"{conversation.conversation_id} {run[-1].run}")


def steps_with_answers(definition: Workflow, conversation: Conversation) -> Steps:
    """Return the steps; a last one whose validation was answered while nobody waited says so."""
    steps = conversation.workflow_steps or NO_STEPS
    run = run_of(definition, steps)
    if not run or state_of(run[-1]) != "validation_due":
        return steps
    number = _answer_number(conversation, storable(message_for(definition, conversation)))
    if number is None:
        return steps
    outcome = outcome_of(conversation.messages[number - 1].content)
    return stored_with(steps, settled(run[-1], outcome, number))


def with_validations(workflows: Workflows, conversation: Conversation) -> Conversation:
    """Return the conversation; each last step whose validation was answered says so."""
    steps = conversation.workflow_steps or NO_STEPS
    for name in {step.workflow for step in steps if state_of(step) == "validation_due"}:
        try:
            definition = workflows.find(name)
        except ConversationMCPError as error:  # the file of a user's own workflow may be gone or broken by now
            logger.warning("the validation of a workflow could not be recorded: %s", error.message)
            continue
        conversation = conversation.changed(workflow_steps=steps_with_answers(definition, conversation))
    return conversation


def _answer_number(conversation: Conversation, question: str) -> int | None:
    """Return the number of the answer to this very message, counted from 1."""
    messages = conversation.messages
    return next(
        (
            place + 2
            for place in range(len(messages) - 2, -1, -1)
            if messages[place].role == "user"
            and messages[place].content == question
            and messages[place + 1].role == "assistant"
        ),
        None,
    )
