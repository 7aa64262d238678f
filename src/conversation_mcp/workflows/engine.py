"""The engine: checks the next step of a workflow, and says what to do after it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.models import Message
from conversation_mcp.records.workflow_steps import WorkflowStep, WorkflowValidation
from conversation_mcp.text import counted, listed, nearest
from conversation_mcp.workflows.definition import MAX_STEPS, Effort, Workflow
from conversation_mcp.workflows.ending import check_end, reason_not_to_ask, words_after
from conversation_mcp.workflows.given import GivenStep, check_sizes
from conversation_mcp.workflows.options import check_kept, check_required, checked_options, held_options
from conversation_mcp.workflows.order import (
    WorkflowRun,
    check_evidence,
    check_order,
    is_continuing,
    latest_run,
    next_run,
)
from conversation_mcp.workflows.outcome import KEEPS_OPEN, ValidationOutcome
from conversation_mcp.workflows.situation import Situation

State = Literal["in_progress", "validation_due", "finished", "validated"]
"""`in_progress`: another step is due. `validation_due`: a model is to be asked now. `finished`: it ended without one.
`validated`: a model has answered."""


@dataclass(frozen=True)
class Accepted:
    """A step that is valid, and what comes after it."""

    step: WorkflowStep
    """The step to store with `stored_with`."""
    state: State
    guidance: str
    """What to do next, in two or three sentences."""
    form: str = ""
    """At the end: the form in which the agent presents the result."""
    effort: Effort | None = None
    """If a model is to be asked: how hard it should think."""
    notices: tuple[str, ...] = ()
    is_stored: bool = False
    """Whether this very step was stored before, as when its answer was lost."""

    @property
    def next_number(self) -> int | None:
        """The number of the next step, if one is due."""
        return self.step.step_number + 1 if self.state == "in_progress" else None


@dataclass(frozen=True)
class ChoiceDue:
    """The user must choose before step 1; nothing is stored."""

    option: str
    question: str
    choices: tuple[str, ...]
    state: Literal["choice_due"] = field(default="choice_due", init=False)


def next_step(
    definition: Workflow,
    steps: Sequence[WorkflowStep],
    given: GivenStep,
    *,
    messages: Sequence[Message] = (),
    created_at: str | None = None,
) -> Accepted | ChoiceDue:
    """Return the step to store, and what comes after it.

    The last step once more, as when its answer was lost, is accepted without being stored again.

    Args:
        definition: the workflow.
        steps: all steps in the conversation, of whatever workflow.
        given: what the agent sent.
        messages: those of the conversation.
        created_at: the time now.

    Raises:
        InvalidInputError: the step is not valid; the message says what to send instead.
    """
    if definition.kind != "steps":
        raise InvalidInputError(f"{definition.name} has no steps.", field="workflow")
    check_sizes(given)
    run = latest_run(definition.name, steps)
    if run.last and _is_repeat(definition, run, given):
        return _accepted(definition, run, run.last, given, messages)
    if run.is_over:
        _check_anew(definition, run, given)
        run = next_run(steps)
    if run.next_number > MAX_STEPS:
        raise InvalidInputError(f"a run has at most {MAX_STEPS:,} steps; begin again in another conversation.")
    check_order(definition.name, run, given)
    check_evidence(run, given)
    _check_confidence(definition, given)
    is_first = run.next_number == 1
    options = checked_options(definition, given.options, is_first=is_first)
    if is_first and (choice := _choice(definition, options)):
        return choice
    if options and not is_first and given.revises != 1:
        check_kept(definition, options, held_options(definition, run.steps))
    if is_first:
        _check_needs(definition, given)
    step = _step(definition, run, given, options, after_message=len(messages), created_at=created_at)
    return _accepted(definition, run, step, given, messages)


def settled(step: WorkflowStep, outcome: ValidationOutcome, message_number: int) -> WorkflowStep:
    """Return the last step of a run with the answer of the model that was asked."""
    validation = WorkflowValidation.of(
        asked=True, message_number=message_number, outcome=outcome.name, needs=outcome.needs or None
    )
    return step.model_copy(update={"validation": validation})


def stored_with(steps: Sequence[WorkflowStep], step: WorkflowStep) -> tuple[WorkflowStep, ...]:
    """Return the steps with this one, in place of itself if it is among them."""
    # Only the last step of a run is ever stored again.
    last = next((place for place in range(len(steps) - 1, -1, -1) if steps[place].run == step.run), None)
    place = len(steps) if last is None or steps[last].step_number != step.step_number else last
    return (*steps[:place], step, *steps[place + 1 :])


def state_of(step: WorkflowStep) -> State:
    """Return the state of a run after this step, its last one."""
    if step.next or (step.validation and step.validation.outcome in KEEPS_OPEN):
        return "in_progress"
    if step.validation is None:
        return "validation_due"
    return "validated" if step.validation.asked else "finished"


def _accepted(
    definition: Workflow, run: WorkflowRun, step: WorkflowStep, given: GivenStep, messages: Sequence[Message]
) -> Accepted:
    is_stored = step is run.last
    before = run.steps[:-1] if is_stored else run.steps
    whole = (*before, step)
    options = {**held_options(definition, whole), **(step.options or {})}
    situation = Situation(step, before, options, is_continuing(run, messages))
    check_required(definition, options, is_first=step.step_number == 1, is_last=not step.next)
    if not step.next and step.validation is None:
        check_end(definition, situation, has_agent=given.has_agent)
        if why := reason_not_to_ask(definition, situation, is_wanted=given.is_validated):
            step = step.model_copy(update={"validation": WorkflowValidation(asked=False, why=why)})
    state = state_of(step)
    form = "" if step.next else next((each.form for each in definition.output if situation.is_a(each.when)), "")
    return Accepted(
        step=step,
        state=state,
        guidance=_guidance(definition, situation) or words_after(step, has_form=bool(form)),
        form=form.strip(),
        effort=definition.validation.effort if state == "validation_due" else None,
        notices=tuple(_notices(before, step, is_stored=is_stored)),
        is_stored=is_stored,
    )


def _guidance(definition: Workflow, situation: Situation) -> str:
    has_ended = not situation.step.next
    rules = (rule for rule in definition.guidance if bool(rule.when.ended) == has_ended)
    return next((rule.say for rule in rules if situation.is_a(rule.when)), "")


def _notices(before: Sequence[WorkflowStep], step: WorkflowStep, *, is_stored: bool) -> list[str]:
    notices: list[str] = []
    if is_stored:
        notices.append(f"step {step.step_number} is stored already; nothing was added")
    earlier = before[-1].total_steps if before else step.total_steps
    if step.total_steps != earlier:
        verb = "grew" if step.total_steps > earlier else "fell"
        notices.append(f"the total of steps {verb} from {earlier} to {step.total_steps}")
    if not step.next and step.step_number < step.total_steps:
        notices.append(f"it ended at step {step.step_number} of {counted(step.total_steps, 'step')}")
    return notices


def _step(
    definition: Workflow,
    run: WorkflowRun,
    given: GivenStep,
    options: Mapping[str, object],
    *,
    after_message: int | None = None,
    created_at: str | None = None,
) -> WorkflowStep:
    return WorkflowStep.of(
        workflow=definition.name,
        run=run.number,
        step_number=given.step_number,
        total_steps=given.total_steps,
        next=given.next,
        step=given.step,
        findings=given.findings,
        checked=given.checked or None,
        files=given.files or None,
        images=given.images or None,
        symbols=given.symbols or None,
        issues=given.issues or None,
        hypothesis=given.hypothesis or None,
        confidence=given.confidence,
        options=dict(options) or None,
        revises=given.revises,
        branch=given.branch,
        branch_from=given.branch_from,
        after_message=after_message,
        created_at=created_at,
    )


def _is_repeat(definition: Workflow, run: WorkflowRun, given: GivenStep) -> bool:
    """Tell whether this is the last step of the run once more."""
    last = run.last
    if last is None or (last.step_number, last.findings, last.next) != (given.step_number, given.findings, given.next):
        return False
    options = checked_options(definition, given.options, is_first=last.step_number == 1)
    again = _step(definition, run, given, options)
    ours = {"after_message", "created_at", "validation"}
    return all(getattr(again, name) == getattr(last, name) for name in WorkflowStep.model_fields if name not in ours)


def _check_anew(definition: Workflow, run: WorkflowRun, given: GivenStep) -> None:
    if given.step_number == 1:
        return
    count = run.next_number - 1
    raise InvalidInputError(
        Argument("stepNumber"), f" must be 1: {definition.name} ended with step {count}, and this begins it anew."
    )


def _choice(definition: Workflow, options: Mapping[str, object]) -> ChoiceDue | None:
    choice = definition.choice
    if choice is None or options.get(choice.option) != choice.value:
        return None
    option = definition.option(choice.option)
    rest = tuple(each for each in option.choices if each != choice.value) if option else ()
    return ChoiceDue(choice.option, choice.question, rest)


def _check_confidence(definition: Workflow, given: GivenStep) -> None:
    scale, said = definition.confidence.scale, given.confidence
    if said is None or said in scale:
        return
    if not scale:
        raise InvalidInputError(Argument("confidence"), f" must be left out: {definition.name} takes none.")
    near = nearest(said, scale)
    hint = f" Did you mean {near}?" if near else ""
    raise InvalidInputError(Argument("confidence"), f" must be {listed(scale, 'or')}, not {said[:80]!r}.{hint}")


def _check_needs(definition: Workflow, given: GivenStep) -> None:
    for part in definition.needs:
        if not getattr(given, part):
            change = f", or {definition.change} for the change itself" if part == "files" and definition.change else ""
            raise InvalidInputError(
                Argument(part),
                f" must not be empty in step 1 of {definition.name}: send the {part} it is about{change}.",
            )
