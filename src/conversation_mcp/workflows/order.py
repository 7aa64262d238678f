"""The order of steps: runs, numbers, totals, revisions and branches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import attrgetter

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.models import Message
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.text import listed, shorten
from conversation_mcp.workflows.given import MAX_BRANCH_CHARS, GivenStep
from conversation_mcp.workflows.outcome import KEEPS_OPEN

NUMBER, TOTAL, NEXT = Argument("stepNumber"), Argument("totalSteps"), Argument("next")
REVISES, BRANCH, BRANCH_FROM = Argument("revises"), Argument("branch"), Argument("branchFrom")
MAX_BRANCHES, MAX_DEPTH = 20, 3
RECENT = 10
# Looked up a thousand times in a long run.
RUN, FINDINGS = attrgetter("run"), attrgetter("findings")


@dataclass(frozen=True)
class WorkflowRun:
    """A run of a workflow: its number in the conversation and its steps so far."""

    number: int
    steps: Sequence[WorkflowStep]

    @property
    def last(self) -> WorkflowStep | None:
        """The last step."""
        return self.steps[-1] if self.steps else None

    @property
    def next_number(self) -> int:
        """The number that the next step must have."""
        return self.steps[-1].step_number + 1 if self.steps else 1

    @property
    def is_over(self) -> bool:
        """Whether it has ended, and nothing keeps it open."""
        last = self.last
        if last is None or last.next:
            return False
        return last.validation is None or last.validation.outcome not in KEEPS_OPEN


def latest_run(name: str, steps: Sequence[WorkflowStep]) -> WorkflowRun:
    """Return the latest run of the workflow in the conversation; without steps if there is none."""
    number = next((step.run for step in reversed(steps) if step.workflow == name), None)
    if number is None:
        return next_run(steps)
    runs = list(map(RUN, steps))
    own = steps if runs.count(number) == len(runs) else list(compress(steps, map(number.__eq__, runs)))
    return WorkflowRun(number, own)


def next_run(steps: Sequence[WorkflowStep]) -> WorkflowRun:
    """Return the run that would come next in the conversation."""
    return WorkflowRun(max((step.run for step in steps), default=0) + 1, ())


def is_continuing(run: WorkflowRun, messages: Sequence[Message]) -> bool:
    """Tell whether the conversation had an answer before the run began."""
    begun = run.steps[0].after_message if run.steps else None
    return any(message.role == "assistant" for message in messages[:begun])


def check_order(name: str, run: WorkflowRun, given: GivenStep) -> None:
    """Refuse a step that is not the next one, or whose numbers do not agree.

    Raises:
        InvalidInputError: the message says which numbers to send.
    """
    _check_number(name, run, given)
    if given.total_steps < given.step_number:
        raise InvalidInputError(
            TOTAL, f" must be at least {given.step_number}, the number of this step; it may grow with every step."
        )
    if given.next and given.total_steps == given.step_number:
        raise InvalidInputError(
            NEXT, " says that another step follows, but this is the last of ", TOTAL, f": send {given.step_number + 1}"
            " or more for it, or false for ", NEXT, ".",
        )  # fmt: skip
    _check_revision(run, given)
    _check_branch(run, given)


def _check_number(name: str, run: WorkflowRun, given: GivenStep) -> None:
    due = run.next_number
    if given.step_number == due:
        return
    if not run.steps:
        raise InvalidInputError(NUMBER, f" must be 1: this conversation has no step of {name} yet.")
    state = f"step {due - 1} of {name} is stored already"
    raise InvalidInputError(
        NUMBER, f" must be {due}: {state}. To replace an earlier step, send {due} with ", REVISES, " and its number."
        " To begin again, use another conversation.",
    )  # fmt: skip


def check_evidence(run: WorkflowRun, given: GivenStep) -> None:
    """Refuse a step with the findings of an earlier one: nothing was found since."""
    said = given.findings.strip()
    findings = list(map(FINDINGS, run.steps))
    place = next((findings.index(text) for text in (given.findings, said) if text in findings), None)
    same = None if place is None else run.steps[place]
    if same is None:
        plain = _plain(said)
        # Folding takes time, so only the last few are compared that way.
        same = next((step for step in run.steps[-RECENT:] if _plain(step.findings) == plain), None)
    if same is not None:
        raise InvalidInputError(
            Argument("findings"), f" are those of step {same.step_number}, which is no new evidence: look further and"
            " send what is new, even if it is that nothing more was found, and where you looked.",
        )  # fmt: skip


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _check_revision(run: WorkflowRun, given: GivenStep) -> None:
    number = given.revises
    if number is None:
        return
    if not run.steps:
        raise InvalidInputError(REVISES, " must be left out at step 1: there is no earlier step.")
    if not 1 <= number < given.step_number:
        raise InvalidInputError(REVISES, f" must be the number of an earlier step, 1 to {given.step_number - 1}.")
    by = next((step.step_number for step in run.steps if step.revises == number), None)
    if by is not None:
        raise InvalidInputError(REVISES, f" must be {by}: step {by} has replaced step {number} already.")


def _check_branch(run: WorkflowRun, given: GivenStep) -> None:
    if given.branch is None:
        if given.branch_from is not None:
            raise InvalidInputError(BRANCH, " must name the branch that begins at ", BRANCH_FROM, ".")
        return
    if not given.branch.strip() or len(given.branch) > MAX_BRANCH_CHARS or not given.branch.isprintable():
        raise InvalidInputError(BRANCH, f" must be a name of 1 to {MAX_BRANCH_CHARS} characters on one line.")
    starts = {step.branch: step.branch_from for step in run.steps if step.branch and step.branch_from is not None}
    if given.branch in starts:
        if given.branch_from not in (None, starts[given.branch]):
            begun = f"it began at step {starts[given.branch]}"
            raise InvalidInputError(BRANCH_FROM, f" must be left out: the branch exists, and {begun}.")
        return
    _check_new_branch(run, given, starts)


def _check_new_branch(run: WorkflowRun, given: GivenStep, starts: Mapping[str, int]) -> None:
    if not run.steps:
        raise InvalidInputError(BRANCH, " must be left out at step 1: a branch begins at an earlier step.")
    if given.branch_from is None or not 1 <= given.branch_from < given.step_number:
        named = listed([shorten(str(each), MAX_BRANCH_CHARS) for each in starts])
        known = f", or {BRANCH} one that exists: {named}" if named else ""
        raise InvalidInputError(
            BRANCH_FROM, f" must be the number of the step at which the new branch begins, 1 to"
            f" {given.step_number - 1}{known}.",
        )  # fmt: skip
    if len(starts) >= MAX_BRANCHES:
        raise InvalidInputError(BRANCH, f" must be one that exists: a run has at most {MAX_BRANCHES} branches.")
    if _depth(run, given.branch_from) >= MAX_DEPTH:
        raise InvalidInputError(
            BRANCH_FROM, f" must be a step nearer to the trunk: branches go at most {MAX_DEPTH} deep."
        )


def _depth(run: WorkflowRun, number: int) -> int:
    """Return how many branches lead to the step."""
    branches = {step.step_number: step.branch for step in run.steps}
    starts = {step.branch: step.branch_from for step in run.steps if step.branch_from is not None}
    depth, at = 0, branches.get(number)
    while at is not None and depth < MAX_DEPTH:
        depth += 1
        at = branches.get(starts.get(at) or 0)
    return depth
