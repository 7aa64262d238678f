"""The situation of a run at a step, and whether it is the one that a definition means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import JsonValue

from conversation_mcp.records.workflow_steps import SEVERITIES, WorkflowStep
from conversation_mcp.workflows.definition import When


@dataclass(frozen=True)
class Situation:
    """A step in its run. What must be counted is counted only if a definition asks for it."""

    step: WorkflowStep
    before: Sequence[WorkflowStep]
    """The earlier steps of the run."""
    options: Mapping[str, JsonValue]
    """All options that hold at the step."""
    is_continuing: bool
    """Whether the conversation had answers before the run began."""

    @cached_property
    def counting(self) -> tuple[WorkflowStep, ...]:
        """The steps that no other step revises."""
        return standing((*self.before, self.step))

    @cached_property
    def findings(self) -> int:
        """How many steps have findings."""
        return sum(bool(step.findings.strip()) for step in self.counting)

    @cached_property
    def files(self) -> int:
        """How many different files were named."""
        return len({file for step in self.counting for file in step.files or ()})

    @cached_property
    def issues(self) -> int:
        """How many issues were named."""
        return sum(len(step.issues or ()) for step in self.counting)

    @cached_property
    def worst(self) -> int:
        """The place of the most severe issue among the severities, beyond the last if there is no issue."""
        places = (SEVERITIES.index(issue.severity) for step in self.counting for issue in step.issues or ())
        return min(places, default=len(SEVERITIES))

    @property
    def is_last(self) -> bool:
        """Whether the next step is the last one of the total."""
        return self.step.next and self.step.step_number + 1 >= self.step.total_steps

    def is_a(self, when: When) -> bool:
        """Tell whether everything that is given holds."""
        return (
            self._is_at_the_step(when)
            and (not when.confidence or self.step.confidence in when.confidence)
            and all(_among(self.options.get(name), values) for name, values in when.options.items())
            and when.continuing in (None, self.is_continuing)
            and when.revising in (None, self.step.revises is not None)
            and when.branching in (None, self.step.branch is not None)
            and self._has_found(when)
        )

    def _is_at_the_step(self, when: When) -> bool:
        return (
            (when.min_step or 0) <= self.step.step_number
            and (when.max_step is None or self.step.step_number <= when.max_step)
            and (when.min_total or 0) <= self.step.total_steps
            and when.last in (None, self.is_last)
            and when.ended in (None, not self.step.next)
        )

    def _has_found(self, when: When) -> bool:
        return (
            (not when.min_findings or self.findings >= when.min_findings)
            and (not when.min_files or self.files >= when.min_files)
            and (not when.min_issues or self.issues >= when.min_issues)
            and (when.max_issues is None or self.issues <= when.max_issues)
            and (when.severity is None or self.worst <= SEVERITIES.index(when.severity))
        )


def standing(steps: Sequence[WorkflowStep]) -> tuple[WorkflowStep, ...]:
    """Return the steps that no other step revises."""
    revised = {step.revises for step in steps if step.revises is not None}
    return tuple(step for step in steps if step.step_number not in revised)


def _among(value: JsonValue, values: tuple[JsonValue, ...]) -> bool:
    """Tell whether the value, or an item of the list, is one of the values."""
    return any(item in values for item in value) if isinstance(value, list) else value in values
