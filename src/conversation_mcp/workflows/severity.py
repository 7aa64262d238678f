"""Issues by severity, and the filter of those that are returned."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from conversation_mcp.records.workflow_steps import SEVERITIES, Severity, WorkflowIssue, WorkflowStep
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.options import held_options
from conversation_mcp.workflows.situation import standing


def by_severity(issues: Iterable[WorkflowIssue]) -> tuple[WorkflowIssue, ...]:
    """Return the issues, the most severe first."""
    return tuple(sorted(issues, key=lambda issue: SEVERITIES.index(issue.severity)))


def least_severity(definition: Workflow, options: Mapping[str, JsonValue]) -> Severity | None:
    """Return the least severity that is returned; None if all are."""
    chosen = options.get(definition.severity_filter) if definition.severity_filter else None
    return next((severity for severity in SEVERITIES if severity == chosen), None)


def returned_issues(definition: Workflow, steps: Sequence[WorkflowStep]) -> tuple[WorkflowIssue, ...]:
    """Return the issues of a run that its severity filter lets through, the most severe first; steps keep them all."""
    least = least_severity(definition, held_options(definition, steps))
    issues = by_severity(issue for step in standing(steps) for issue in step.issues or ())
    if least is None:
        return issues
    return tuple(issue for issue in issues if SEVERITIES.index(issue.severity) <= SEVERITIES.index(least))
