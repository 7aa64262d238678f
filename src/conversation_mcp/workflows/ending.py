"""The end of a run: what must hold before, and whether a model is asked then."""

from conversation_mcp.errors import Argument, InvalidInputError
from conversation_mcp.records.workflow_steps import WorkflowStep
from conversation_mcp.text import counted, listed
from conversation_mcp.workflows.definition import EndGuard, When, Workflow
from conversation_mcp.workflows.outcome import KEEPS_OPEN
from conversation_mcp.workflows.situation import Situation

TURNED_OFF = "the validation was turned off in the last step"
NEVER = "{} ends without a model"
PRESENT = "Present the result to the user{form}, and say what is certain and what is not."
ALONE = "No other model was asked, because {why}. "
DUE = "Another model is asked now; its answer belongs to this conversation."
WEIGH = "Weigh the answer of the other model against your findings, and check in the files what only one of you says. "
MORE = "The other model needs more before it can judge{needs}. Send step {number} with that; the run is still open."


def check_end(definition: Workflow, situation: Situation, *, has_agent: bool = True) -> None:
    """Refuse the last step if the workflow cannot end yet.

    Raises:
        InvalidInputError: the message says what is missing.
    """
    number = situation.step.step_number
    if has_agent and number < definition.min_steps:
        raise InvalidInputError(
            Argument("next"), f" must be true: {definition.name} has at least {definition.min_steps} steps, and this is"
            f" step {number}.",
        )  # fmt: skip
    for guard in definition.guards:
        one, other = situation.options.get(guard.option), _other(guard, situation)
        if not (isinstance(one, int) and isinstance(other, int) and _holds(guard, one, other)):
            than = guard.than if isinstance(guard.than, int) else f"{guard.than} ({_shown(other)})"
            raise InvalidInputError(
                Argument("next"), f" must be true: {guard.option} ({_shown(one)}) must be {_words(guard)} {than}. "
                f"{guard.say}",
            )  # fmt: skip


def reason_not_to_ask(definition: Workflow, situation: Situation, *, is_wanted: bool) -> str | None:
    """Return why no model is asked at the end; None if one is."""
    validation = definition.validation
    if validation.ask == "never":
        return NEVER.format(definition.name)
    if not is_wanted:
        return TURNED_OFF
    if skip := next((skip for skip in validation.skip if situation.is_a(skip.when)), None):
        return skip.why
    if validation.evidence and not any(map(situation.is_a, validation.evidence)):
        wanted = listed(filter(None, map(_evidence, validation.evidence)), "or")
        return f"there is nothing to look at yet: {definition.name} asks a model only with {wanted or 'more evidence'}"
    return None


def words_after(step: WorkflowStep, *, has_form: bool = False) -> str:
    """Return what to do after the last step of a run, in a few sentences; empty while another step is due."""
    present = PRESENT.format(form=" in the form that comes with this" if has_form else "")
    validation = step.validation
    if step.next:
        return ""
    if validation is None:
        return DUE
    if not validation.asked:
        return ALONE.format(why=validation.why) + present
    if validation.outcome in KEEPS_OPEN:
        needs = f": {listed(validation.needs)}" if validation.needs else ""
        return MORE.format(needs=needs, number=step.step_number + 1)
    return WEIGH + present


def _evidence(when: When) -> str:
    counts = ((when.min_files, "file"), (when.min_findings, "step with findings"), (when.min_issues, "issue"))
    parts = [_many(number, noun) for number, noun in counts if number]
    return listed((*parts, *(["a conversation that it continues"] if when.continuing else [])))


def _many(number: int, noun: str) -> str:
    return counted(number, noun) if not noun.startswith("step") or number == 1 else f"{number:,} steps with findings"


def _other(guard: EndGuard, situation: Situation) -> object:
    return guard.than if isinstance(guard.than, int) else situation.options.get(guard.than)


def _holds(guard: EndGuard, one: int, other: int) -> bool:
    return {"==": one == other, ">=": one >= other, "<=": one <= other}[guard.comparison]


def _words(guard: EndGuard) -> str:
    return {"==": "equal to", ">=": "at least", "<=": "at most"}[guard.comparison]


def _shown(value: object) -> str:
    return "not given" if value is None else str(value)
