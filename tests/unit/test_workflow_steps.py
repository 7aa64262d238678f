"""The engine takes only a step that is the next one, is new and is whole; every refusal says what to send."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest
from tests.fixtures.workflows import SHIPPED, accepted, definition_of, given, taken

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.models import Message
from conversation_mcp.records.workflow_steps import WorkflowIssue, WorkflowStep
from conversation_mcp.workflows.definition import MAX_STEPS
from conversation_mcp.workflows.engine import ChoiceDue, next_step, settled, state_of, stored_with
from conversation_mcp.workflows.given import MAX_CHARS, MAX_ITEMS, GivenStep
from conversation_mcp.workflows.library import SHIPPED as NAMES
from conversation_mcp.workflows.order import MAX_BRANCHES, MAX_DEPTH
from conversation_mcp.workflows.outcome import ValidationOutcome
from conversation_mcp.workflows.severity import returned_issues
from conversation_mcp.workflows.trial import try_definition

ENDING = [name for name in NAMES if SHIPPED.find(name).kind == "steps"]
DEBUG = SHIPPED.find("debug")
TWO = taken(DEBUG, given(1), given(2))
REFUSED: dict[str, tuple[GivenStep, str]] = {
    "a step that was skipped": (given(4), "stepNumber must be 3: step 2 of debug is stored already"),
    "a step for the second time": (given(2, findings="Other."), "stepNumber must be 3"),
    "step 1 again": (given(1), "use another conversation"),
    "step 9 of 3": (given(3, 2, next=False), "totalSteps must be at least 3"),
    "a step after the last": (given(3, 3, next=True), "send 4 or more for it, or false for next"),
    "an unknown confidence": (given(3, confidence="BOGUS"), "confidence must be exploring, low, .* not 'BOGUS'"),
    "a confidence nearly right": (given(3, confidence="hihg"), r"Did you mean high\?"),
    "findings for the second time": (given(3, findings="Finding 1."), "are those of step 1, which is no new evidence"),
    "findings in capitals again": (given(3, findings=" FINDING  2. "), "are those of step 2"),
    "no findings": (given(3, findings=" \n"), "findings must not be empty"),
    "an unknown option": (given(3, options={"speed": 1}), "debug has no options"),
    "a revision of itself": (given(3, revises=3), "revises must be the number of an earlier step, 1 to 2"),
    "a revision of what is not there": (given(3, revises=0), "1 to 2"),
    "a branch from nowhere": (given(3, branch="b"), "branchFrom must be the number of the step"),
    "a branch from later": (given(3, branch="b", branch_from=3), "1 to 2"),
    "a start of no branch": (given(3, branch_from=1), "branch must name the branch"),
    "a branch of two lines": (given(3, branch="a\nb", branch_from=1), "branch must be a name"),
    "too long findings": (given(3, findings="x" * (MAX_CHARS + 1)), "must not be longer than 200,000"),
    "too many files": (given(3, files=("a",) * (MAX_ITEMS + 1)), "files must not have more than 500"),
    "a total beyond the limit": (given(3, MAX_STEPS + 1), "totalSteps must be from 1 to 1,000"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_is_refused_with_what_to_send_instead(name: str) -> None:
    step, sentence = REFUSED[name]
    with pytest.raises(InvalidInputError, match=sentence):
        next_step(DEBUG, TWO, step)


def test_the_first_step_must_be_number_one_and_may_not_revise() -> None:
    for step, sentence in (
        (given(2), "stepNumber must be 1: this conversation has no step of debug yet"),
        (given(1, revises=1), "revises must be left out at step 1"),
        (given(1, branch="b", branch_from=1), "branch must be left out at step 1"),
    ):
        with pytest.raises(InvalidInputError, match=sentence):
            next_step(DEBUG, (), step)


def test_a_growing_total_is_told() -> None:
    assert accepted(DEBUG, TWO, given(3, 9)).notices == ("the total of steps grew from 5 to 9",)
    assert accepted(DEBUG, TWO, given(3, 3)).notices == ("the total of steps fell from 5 to 3",)
    early = accepted(DEBUG, TWO, given(3, 5, next=False))
    assert early.notices == ("it ended at step 3 of 5 steps",)


@pytest.mark.parametrize("name", ENDING)
def test_a_run_goes_on_from_the_file_after_each_step(name: str) -> None:
    definition = SHIPPED.find(name)
    (first, *_) = try_definition(definition)
    kept: tuple[WorkflowStep, ...] = ()
    for taken_before in first.steps:
        sent = _sent_again(taken_before.step)
        found = accepted(definition, kept, sent)
        assert found == taken_before
        stored = stored_with(kept, found.step)
        kept = tuple(WorkflowStep.model_validate(json.loads(json.dumps(step.data()))) for step in stored)
        assert kept == stored
        again = accepted(definition, kept, sent)
        assert again.is_stored
        assert (again.state, again.guidance, again.form) == (found.state, found.guidance, found.form)


def _sent_again(step: WorkflowStep) -> GivenStep:
    facts = {field.name: getattr(step, field.name, None) for field in fields(GivenStep)}
    return GivenStep(**{name: fact for name, fact in facts.items() if fact is not None})


def test_the_last_step_once_more_is_taken_for_the_same() -> None:
    again = accepted(DEBUG, TWO, given(2))
    assert again.is_stored
    assert stored_with(TWO, again.step) == TWO


def test_steps_of_other_workflows_in_between_change_nothing() -> None:
    planned = accepted(SHIPPED.find("planner"), TWO, given(1)).step
    assert planned.run == 2
    third = accepted(DEBUG, (*TWO, planned), given(3)).step
    assert (third.run, third.step_number) == (1, 3)


def test_a_step_of_a_branch_goes_on_without_naming_its_start() -> None:
    planner = SHIPPED.find("planner")
    steps = taken(planner, given(1, 9), given(2, 9, branch="a", branch_from=1), given(3, 9, branch="a"))
    assert [(step.branch, step.branch_from) for step in steps] == [(None, None), ("a", 1), ("a", None)]


def test_branches_of_branches_are_bounded() -> None:
    planner = SHIPPED.find("planner")
    deep = [given(number, 50, branch=f"b{number}", branch_from=number - 1) for number in range(2, MAX_DEPTH + 2)]
    steps = taken(planner, given(1, 50), *deep)
    with pytest.raises(InvalidInputError, match="branches go at most 3 deep"):
        next_step(planner, steps, given(5, 50, branch="b5", branch_from=4))
    wide = [given(number, 50, branch=f"b{number}", branch_from=1) for number in range(2, MAX_BRANCHES + 2)]
    with pytest.raises(InvalidInputError, match="at most 20 branches"):
        next_step(planner, taken(planner, given(1, 50), *wide), given(22, 50, branch="b22", branch_from=1))


def test_a_step_is_revised_once_and_then_its_revision_is() -> None:
    steps = taken(DEBUG, given(1), given(2), given(3, revises=1))
    with pytest.raises(InvalidInputError, match="revises must be 3: step 3 has replaced step 1 already"):
        next_step(DEBUG, steps, given(4, revises=1))


REVIEW = SHIPPED.find("codereview")
FIRST = given(1, files=("a.py",))
OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "another choice": ({"reviewType": "fast"}, r"options.reviewType must be full, security, performance or quick"),
    "another type": ({"focusOn": 5}, "options.focusOn must be a string, not a number|options.focusOn must be a string"),
    "an unknown name": ({"reviewtype": "full"}, r"Did you mean reviewType\?"),
    "a name in two spellings": ({"reviewType": "full", "review_type": "full"}, "has reviewType twice"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_wrong_option_is_refused_by_its_name(name: str) -> None:
    options, sentence = OPTIONS[name]
    with pytest.raises(InvalidInputError, match=sentence):
        next_step(REVIEW, (), replace(FIRST, options=options))


def test_options_of_step_one_hold_and_change_only_by_revising_it() -> None:
    steps = taken(REVIEW, replace(FIRST, options={"review_type": "quick"}))
    assert (steps[0].options or {})["reviewType"] == "quick"
    assert (steps[0].options or {})["severityFilter"] == "all"
    with pytest.raises(InvalidInputError, match="is 'quick' since step 1: leave it out, or send a step with revises 1"):
        next_step(REVIEW, steps, given(2, options={"reviewType": "full"}))
    revised = accepted(REVIEW, steps, given(2, files=("a.py",), revises=1, options={"reviewType": "security"}))
    third = accepted(REVIEW, (*steps, revised.step), given(3))
    assert "Follow input from outside" in third.guidance


def test_a_first_step_needs_its_files_and_required_options() -> None:
    with pytest.raises(InvalidInputError, match="files must not be empty in step 1 of codereview"):
        next_step(REVIEW, (), given(1))
    with pytest.raises(InvalidInputError, match="send the files it is about, or git for the change itself"):
        next_step(SHIPPED.find("precommit"), (), given(1))
    needy = definition_of('[[options]]\nname = "scope"\nabout = "What is meant."\nrequired = "first"')
    with pytest.raises(InvalidInputError, match=r"options.scope is missing: send a string. What is meant"):
        next_step(needy, (), given(1))


def test_a_workflow_does_not_end_before_its_least_step() -> None:
    with pytest.raises(
        InvalidInputError, match="next must be true: precommit has at least 3 steps, and this is step 1"
    ):
        next_step(SHIPPED.find("precommit"), (), given(1, 1, files=("git",)))


def test_docgen_does_not_end_before_its_count_is_reached() -> None:
    docgen = SHIPPED.find("docgen")
    counts = {"documentedFiles": 0, "filesToDocument": 2}
    steps = taken(docgen, given(1, 3, options=counts), given(2, 3, options={**counts, "documentedFiles": 1}))
    with pytest.raises(InvalidInputError, match=r"documentedFiles \(1\) must be at least filesToDocument \(2\)"):
        next_step(docgen, steps, given(3, 3, options={**counts, "documentedFiles": 1}))
    with pytest.raises(InvalidInputError, match="documentedFiles is missing"):
        next_step(docgen, steps, given(3, 3))
    assert accepted(docgen, steps, given(3, 3, options={**counts, "documentedFiles": 2})).state == "finished"


def test_the_user_chooses_before_the_first_step_of_tracer() -> None:
    tracer = SHIPPED.find("tracer")
    due = next_step(tracer, (), given(1))
    assert isinstance(due, ChoiceDue)
    assert due.choices == ("precision", "dependencies")
    steps = taken(tracer, given(1, 2, options={"traceMode": "dependencies"}))
    assert accepted(tracer, steps, given(2, 2)).form.startswith("Target: name, file:line\n\nWhat it uses")


def _ended(**facts: Any) -> tuple[str, str | None, str]:
    end = accepted(DEBUG, TWO, given(3, 3, **facts))
    return end.state, end.step.validation and end.step.validation.why, end.guidance


def test_defect_22_the_end_without_a_model_says_so_and_why() -> None:
    single = accepted(DEBUG, (), given(1, 1, confidence="low"))
    assert single.state == "finished"
    why = single.step.validation and single.step.validation.why
    assert (
        why == "there is nothing to look at yet: debug asks a model only with 1 file, 2 steps with findings or 1 issue"
    )
    assert single.guidance.startswith(f"No other model was asked, because {why}.")
    assert _ended(confidence="certain")[1] == "the last step is certain, and debug then ends without a model"
    assert _ended(is_validated=False)[1] == "the validation was turned off in the last step"


def test_defect_23_each_state_means_what_it_says() -> None:
    assert accepted(DEBUG, TWO, given(3)).state == "in_progress"
    assert accepted(DEBUG, TWO, given(3)).next_number == 4
    due = accepted(DEBUG, TWO, given(3, 3, confidence="high"))
    assert (due.state, due.effort, due.next_number) == ("validation_due", "high", None)
    assert state_of(settled(due.step, ValidationOutcome("no_bug_found"), 5)) == "validated"
    assert state_of(settled(due.step, ValidationOutcome("needs_files", ("b.py",)), 5)) == "in_progress"


def test_a_model_that_needs_files_keeps_the_run_open_and_any_other_ends_it() -> None:
    due = accepted(DEBUG, TWO, given(3, 3)).step
    asked = (*TWO, settled(due, ValidationOutcome("needs_files", ("b.py",)), 5))
    assert accepted(DEBUG, asked, given(4, 4, files=("b.py",))).step.run == 1
    done = (*TWO, settled(due, ValidationOutcome(), 5))
    with pytest.raises(InvalidInputError, match="stepNumber must be 1: debug ended with step 3"):
        next_step(DEBUG, done, given(4, 4))
    assert accepted(DEBUG, done, given(1)).step.run == 2


def test_an_end_whose_model_was_not_reached_can_be_sent_again_with_or_without_one() -> None:
    kept = stored_with(TWO, accepted(DEBUG, TWO, given(3, 3)).step)
    assert accepted(DEBUG, kept, given(3, 3)).state == "validation_due"
    without = accepted(DEBUG, kept, given(3, 3, is_validated=False))
    assert without.state == "finished"
    assert len(stored_with(kept, without.step)) == 3


def test_the_guidance_follows_step_confidence_issues_and_the_conversation() -> None:
    said = accepted(REVIEW, (), FIRST).guidance
    answered = (Message(role="user", content="Why?"), Message(role="assistant", content="So."))
    continued = accepted(REVIEW, (), FIRST, messages=answered)
    assert said != continued.guidance
    assert continued.step.after_message == 2
    assert accepted(REVIEW, (), FIRST, messages=answered[:1]).guidance == said
    three = taken(REVIEW, FIRST, given(2))
    issue = WorkflowIssue(severity="high", description="It leaks.")
    assert accepted(REVIEW, three, given(3)).guidance.startswith("You have found nothing so far.")
    assert accepted(REVIEW, three, given(3, issues=(issue,))).guidance.startswith("Check that the issues are real")


def test_rules_can_ask_for_every_part_of_a_situation() -> None:
    rules = {
        "min_total = 6": given(3, 6), "last = true": given(3, 4), "revising = true": given(3, revises=1),
        "branching = true": given(3, branch="b", branch_from=1), "min_findings = 3": given(3),
        "min_files = 2": given(3, files=("a", "b")), 'severity = "medium"': given(3, issues=(_issue("high"),)),
        "min_issues = 1": given(3, issues=(_issue("low"),)), 'confidence = ["low"]': given(3, confidence="low"),
    }  # fmt: skip
    for rule, step in rules.items():
        own = definition_of(f'[[guidance]]\nwhen = {{ {rule} }}\nsay = "Found."')
        steps = [each.model_copy(update={"workflow": "own"}) for each in TWO]
        assert accepted(own, steps, step).guidance == "Found.", rule
        assert accepted(own, steps[:1], given(2, findings="Other.")).guidance == "Go on.", rule


def _issue(severity: str) -> WorkflowIssue:
    return WorkflowIssue.model_validate({"severity": severity, "description": severity})


def test_the_severity_filter_filters_the_issues_that_are_returned() -> None:
    issues = tuple(map(_issue, ("low", "critical", "medium", "high")))
    steps = taken(REVIEW, replace(FIRST, issues=issues, options={"severityFilter": "high"}))
    assert [issue.severity for issue in returned_issues(REVIEW, steps)] == ["critical", "high"]
    assert len(steps[0].issues or ()) == 4


def test_a_run_has_a_thousand_steps_and_no_more() -> None:
    steps: list[WorkflowStep] = []
    for number in range(1, MAX_STEPS + 1):
        steps.append(accepted(DEBUG, steps, given(number, MAX_STEPS)).step)
    assert steps[-1].step_number == MAX_STEPS
    steps[-1] = settled(steps[-1], ValidationOutcome("more_to_come"), 3)
    with pytest.raises(InvalidInputError, match="at most 1,000 steps; begin again in another conversation"):
        next_step(DEBUG, steps, given(MAX_STEPS, findings="More."))


def test_a_run_that_began_alone_does_not_continue_a_conversation_because_of_its_own_validation() -> None:
    own = definition_of('[[guidance]]\nwhen = { continuing = true }\nsay = "It continues."')
    (first,) = taken(own, given(1))
    answered = (Message(role="user", content="Judge it."), Message(role="assistant", content="More."))
    assert first.after_message == 0
    assert accepted(own, (first,), given(2), messages=answered).guidance == "Go on."
    late = first.model_copy(update={"after_message": 2})
    assert accepted(own, (late,), given(2), messages=answered).guidance == "It continues."
