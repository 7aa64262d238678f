"""The wording of workflow steps, the same in results, in exports and on a terminal."""

import json
from collections.abc import Iterator

from conversation_mcp.conversations.phrases import dotted, paragraphs
from conversation_mcp.records.workflow_steps import WorkflowStep, WorkflowValidation
from conversation_mcp.text import listed, one_line


def step_name(step: WorkflowStep) -> str:
    """Return the step as a heading: `debug, step 2 of 5`."""
    return f"{one_line(step.workflow)}, step {step.step_number} of {step.total_steps}"


def step_text(step: WorkflowStep) -> str:
    """Return the whole step as Markdown: texts as the agent wrote them, facts below."""
    return paragraphs(step.step.strip(), step.findings.strip(), "\n".join(f"- {line}" for line in _facts(step)))


def validation_line(validation: WorkflowValidation) -> str:
    """Return whether another model was asked, and what came of it."""
    if not validation.asked:
        return "Validation: no model was asked" + (f", because {validation.why}" if validation.why else "")
    where = f"Validation: message {validation.message_number}" if validation.message_number else "Validation: asked"
    return dotted(where, validation.outcome, ", ".join(map(one_line, validation.needs or ())))


def _facts(step: WorkflowStep) -> Iterator[str]:
    if step.branch:
        begins = f", from step {step.branch_from}" if step.branch_from else ""
        yield f"Branch: {one_line(step.branch)}{begins}"
    if step.revises:
        yield f"Replaces step {step.revises}"
    for issue in step.issues or ():
        kind = f" ({one_line(issue.type)})" if issue.type else ""
        yield f"Issue, {issue.severity}{kind}: {one_line(issue.description)}"
    if step.hypothesis:
        yield f"Hypothesis: {one_line(step.hypothesis)}"
    if step.confidence:
        yield f"Confidence: {one_line(step.confidence)}"
    for name, items in (("Files", step.files), ("Checked", step.checked), ("Symbols", step.symbols)):
        if items:
            yield f"{name}: {', '.join(map(one_line, items))}"
    if step.options:
        shown = (f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in step.options.items())
        yield f"Options: {one_line(listed(shown))}"
    if step.validation:
        yield validation_line(step.validation)
