"""A step as an agent sends it, and the limits of what it may hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.workflow_steps import WorkflowIssue
from conversation_mcp.workflows.definition import MAX_STEPS

MAX_CHARS = 200_000
MAX_ITEMS = 500
MAX_BRANCH_CHARS = 64


@dataclass(frozen=True)
class GivenStep:
    """What a step says, before anything is checked."""

    step: str
    step_number: int
    total_steps: int
    next: bool
    findings: str
    checked: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    issues: tuple[WorkflowIssue, ...] = ()
    hypothesis: str | None = None
    confidence: str | None = None
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    revises: int | None = None
    branch: str | None = None
    branch_from: int | None = None
    is_validated: bool = True
    """Whether another model may be asked at the end."""
    has_agent: bool = True
    """Whether an agent takes the steps. Without one, as from a terminal, a workflow may end before its least step."""


def redacted(given: GivenStep, clean: Callable[[str], str]) -> GivenStep:
    """Return the step with its texts redacted; the paths that it names stay."""
    issues = (issue.model_copy(update={"description": clean(issue.description)}) for issue in given.issues)
    return replace(
        given,
        step=clean(given.step),
        findings=clean(given.findings),
        hypothesis=given.hypothesis and clean(given.hypothesis),
        issues=tuple(issues),
    )


def check_sizes(given: GivenStep) -> None:
    """Refuse a step with an empty text, or with more than is kept.

    Raises:
        InvalidInputError: the message names the argument and its limit.
    """
    for name, text in (("step", given.step), ("findings", given.findings)):
        if not text.strip():
            raise InvalidInputError(Argument(name), " must not be empty: say what was done or found in this step.")
    for name, text in (("step", given.step), ("findings", given.findings), ("hypothesis", given.hypothesis or "")):
        if len(text) > MAX_CHARS:
            raise InvalidInputError(Argument(name), f" must not be longer than {MAX_CHARS:,} characters.")
    for name in ("checked", "files", "images", "symbols", "issues"):
        if len(getattr(given, name)) > MAX_ITEMS:
            raise InvalidInputError(Argument(name), f" must not have more than {MAX_ITEMS} items in one step.")
    lists = (
        *given.checked,
        *given.files,
        *given.images,
        *given.symbols,
        *(issue.description for issue in given.issues),
    )
    if sum(map(len, lists)) > MAX_CHARS:
        raise InvalidInputError(f"the lists of one step must not hold more than {MAX_CHARS:,} characters together.")
    for name, number in (("stepNumber", given.step_number), ("totalSteps", given.total_steps)):
        if not 1 <= number <= MAX_STEPS:
            raise InvalidInputError(Argument(name), f" must be from 1 to {MAX_STEPS:,}.")
