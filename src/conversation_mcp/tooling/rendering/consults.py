"""Steps of workflows as text."""

from conversation_mcp.conversations.phrases import answered_by, charged, dotted, noted, paragraphs
from conversation_mcp.text import listed, one_line
from conversation_mcp.tooling.consults import ConsultResult
from conversation_mcp.tooling.rendering.attachments import render_attachments

STATES = {
    "in_progress": "the next step is due",
    "choice_due": "the user must choose first",
    "validation_running": "another model is being asked",
    "validated": "another model has answered",
    "finished": "ended without another model",
    "template": "a text to follow",
}


def render_consult(result: ConsultResult) -> str:
    """Return the state, what to do next, the answer of the other model, and the issues."""
    number = f"step {result.step_number} of {result.total_steps}" if result.step_number else ""
    return paragraphs(
        dotted(
            result.workflow,
            number,
            STATES[result.state],
            f"conversation {result.conversation_id}" if result.conversation_id else "",
        ),
        noted(result.notices),
        result.guidance,
        _choices(result),
        result.form or "",
        _answer(result),
        _issues(result),
        render_attachments(result.files or (), result.images or ()),
        result.next_step or "",
    )


def _answer(result: ConsultResult) -> str:
    if not result.raw_result_text:
        return ""
    outcome = f"outcome {result.outcome}" if result.outcome else ""
    needs = f"needs {listed(map(one_line, result.needs))}" if result.needs else ""
    head = dotted("The other model", answered_by(result.provider, None, result.model_used), charged(result.usage))
    return paragraphs(dotted(head, outcome, needs), result.raw_result_text)


def _issues(result: ConsultResult) -> str:
    lines = [f"- {issue.severity}: {one_line(issue.description)}" for issue in result.issues or ()]
    return "\n".join(("Issues of the steps", *lines)) if lines else ""


def _choices(result: ConsultResult) -> str:
    return "\n".join(f"{name}: {', '.join(choices)}" for name, choices in (result.choices or {}).items())
