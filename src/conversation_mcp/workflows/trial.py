"""The trial of a definition: a made-up run from step 1 to the end, which shows that the file can be used."""

from collections.abc import Iterator
from dataclasses import dataclass

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.workflow_steps import WorkflowIssue, WorkflowStep
from conversation_mcp.workflows.definition import Option, When, Workflow
from conversation_mcp.workflows.engine import Accepted, ChoiceDue, next_step, stored_with
from conversation_mcp.workflows.given import GivenStep
from conversation_mcp.workflows.message import answer_of, system_text, validation_message

LEAST_STEPS, MOST_STEPS = 4, 20
SAMPLES = {"string": "sample", "integer": 1, "boolean": True, "list": ["sample"]}


@dataclass(frozen=True)
class Tried:
    """A run that went from step 1 to the end."""

    name: str
    """The option and value that it was made with, or nothing."""
    steps: tuple[Accepted, ...]
    message: str
    """What a validating model would get."""


def try_definition(definition: Workflow) -> Iterator[Tried]:
    """Yield a run with the usual options, one that never gets sure, and one for each other choice of an option.

    Raises:
        InvalidInputError: a run cannot reach its end.
    """
    if definition.kind == "template":
        yield Tried("", (), answer_of(definition, "sample"))
        return
    yield _run(definition, "", _options(definition))
    if definition.confidence.scale[1:]:
        yield _run(definition, f"confidence {definition.confidence.scale[0]}", _options(definition), is_sure=False)
    for option in definition.options:
        for choice in option.choices:
            if not _is_asked(definition, option, choice) and choice != option.default:
                value = [choice] if option.type == "list" else choice
                yield _run(definition, f"{option.name} {choice}", {**_options(definition), option.name: value})


def _run(definition: Workflow, name: str, options: dict[str, object], *, is_sure: bool = True) -> Tried:
    total = _total(definition)
    steps: tuple[WorkflowStep, ...] = ()
    taken: list[Accepted] = []
    for number in range(1, total + 1):
        found = next_step(definition, steps, _given(definition, number, total, options, is_sure=is_sure))
        if isinstance(found, ChoiceDue):
            raise InvalidInputError(f"{definition.name} asks the user for {found.option} before every run.")
        if not found.guidance:
            raise InvalidInputError(f"{definition.name} says nothing after step {number}.")
        steps = stored_with(steps, found.step)
        taken.append(found)
    if taken[-1].state == "in_progress":
        raise InvalidInputError(f"{definition.name} does not end.")
    validated = system_text(definition) + "\n\n" + validation_message(definition, steps)
    return Tried(name, tuple(taken), validated)


def _given(definition: Workflow, number: int, total: int, options: dict[str, object], *, is_sure: bool) -> GivenStep:
    scale = definition.confidence.scale if is_sure else definition.confidence.scale[:1]
    place = min(len(scale) - 1, (number - 1) * len(scale) // max(total - 1, 1))
    own = {option.name for option in definition.options if not option.kept}
    return GivenStep(
        step=f"Step {number} of a trial.",
        step_number=number,
        total_steps=total,
        next=number < total,
        findings=f"What step {number} found.",
        checked=(f"checked-{number}.txt",),
        files=(f"file-{number}.txt",),
        symbols=(f"symbol_{number}",),
        issues=(WorkflowIssue(severity="medium", description=f"An issue of step {number}."),),
        hypothesis=f"Hypothesis {number}.",
        confidence=scale[place] if scale else None,
        options=options if number == 1 else {name: value for name, value in options.items() if name in own},
    )


def _options(definition: Workflow) -> dict[str, object]:
    """Return a value for each option that is required, compared, or chosen by the user before a run."""
    compared = {name for guard in definition.guards for name in (guard.option, guard.than) if isinstance(name, str)}
    found: dict[str, object] = {}
    for option in definition.options:
        is_chosen = definition.choice is not None and definition.choice.option == option.name
        if option.required != "never" or option.name in compared or is_chosen:
            found[option.name] = _sample(definition, option)
    for guard in definition.guards:
        if isinstance(guard.than, int):
            found[guard.option] = guard.than
    return found


def _sample(definition: Workflow, option: Option) -> object:
    choices = [choice for choice in option.choices if not _is_asked(definition, option, choice)]
    if not choices:
        return SAMPLES[option.type]
    return choices[:1] if option.type == "list" else choices[0]


def _is_asked(definition: Workflow, option: Option, choice: str) -> bool:
    asked = definition.choice
    return asked is not None and (asked.option, asked.value) == (option.name, choice)


def _total(definition: Workflow) -> int:
    """Return so many steps that every rule for a number of a step is met, within limits."""
    whens: list[When] = [rule.when for rule in definition.guidance]
    named = [number + 1 for when in whens for number in (when.min_step, when.max_step) if number]
    return max(definition.min_steps, min(MOST_STEPS, max([LEAST_STEPS, *named])))
