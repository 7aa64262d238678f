"""The record of a workflow, as its file says it."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictInt

from conversation_mcp.records.workflow_steps import Severity

MAX_STEPS = 1_000
"""The most steps of one run."""
CONFIDENCE = ("exploring", "low", "medium", "high", "very_high", "almost_certain", "certain")
OptionType = Literal["string", "integer", "boolean", "list"]
Part = Literal["files", "checked", "symbols", "issues", "hypothesis", "confidence"]
Required = Literal["never", "first", "last", "always"]
SectionName = Literal["request", "options", "findings", "issues", "hypotheses", "symbols", "checked"]
Effort = Literal["minimal", "low", "medium", "high", "max"]
OutcomeName = Literal[
    "needs_files", "too_broad", "no_bug_found", "more_to_come", "full_review_advised", "sample_needed"
]
Words = Annotated[str, Field(min_length=1, max_length=1_000)]
Name = Annotated[str, Field(min_length=1, max_length=64)]
Count = Annotated[StrictInt, Field(ge=0, le=MAX_STEPS)]
StepCount = Annotated[StrictInt, Field(ge=1, le=MAX_STEPS)]
ALL_SECTIONS: tuple[SectionName, ...] = (
    "request", "options", "findings", "issues", "hypotheses", "symbols", "checked",
)  # fmt: skip


class DefinitionPart(BaseModel):
    """A part of a definition: frozen, and without fields that nobody reads."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class When(DefinitionPart):
    """A situation. Everything that is given must hold; nothing given always holds."""

    min_step: StepCount | None = None
    """The number of the step is at least this."""
    max_step: StepCount | None = None
    """The number of the step is at most this."""
    last: StrictBool | None = None
    """Whether the next step is the last one of the total."""
    ended: StrictBool | None = None
    """Whether the step ends the workflow; rules of guidance count after the end only if this is true."""
    min_total: StepCount | None = None
    """The total of steps is at least this."""
    confidence: tuple[Name, ...] = ()
    """The confidence is one of these."""
    min_findings: Count | None = None
    """At least so many steps have findings; revised steps do not count."""
    min_files: Count | None = None
    """At least so many different files were named."""
    min_issues: Count | None = None
    """At least so many issues were named."""
    max_issues: Count | None = None
    """At most so many issues were named."""
    severity: Severity | None = None
    """At least one issue is this severe or more."""
    options: dict[Name, tuple[JsonValue, ...]] = {}
    """Each of these options has one of its values."""
    continuing: StrictBool | None = None
    """Whether the conversation had answers before the workflow began."""
    revising: StrictBool | None = None
    """Whether the step revises an earlier one."""
    branching: StrictBool | None = None
    """Whether the step is on a branch."""


class Option(DefinitionPart):
    """An argument that only this workflow has."""

    name: Name
    """Its name, in camelCase."""
    about: Words
    """What it is for."""
    type: OptionType = "string"
    """The type of its value; a list holds strings."""
    choices: tuple[Name, ...] = ()
    """The values that it can have, if not any; of a list, its items."""
    default: JsonValue = None
    """Its value if none is given."""
    required: Required = "never"
    """When it must be given: at the first step, at the last one, at each, or never."""
    kept: StrictBool = True
    """Whether its value of step 1 holds for all steps; otherwise each step gives its own."""


class Guidance(DefinitionPart):
    """What an answer says to do next. The first rule whose situation holds counts; the last rule always holds.

    After the end, only rules for it count; without one, the answer says what it says of every workflow.
    """

    when: When = When()
    """The situation."""
    say: Words
    """Two or three plain sentences."""


class Confidence(DefinitionPart):
    """The words for how sure the agent is."""

    scale: tuple[Name, ...] = CONFIDENCE
    """The words, from unsure to sure; an empty list means that the workflow takes no confidence."""
    end: Name | None = None
    """The word that says that nothing is open; the last of the scale if absent."""

    @property
    def end_value(self) -> str | None:
        """The word that says that nothing is open."""
        return self.end or next(iter(self.scale[-1:]), None)


class EndGuard(DefinitionPart):
    """A comparison of options that must hold before the workflow can end."""

    option: Name
    """The option with the number."""
    comparison: Literal["==", ">=", "<="] = Field(alias="is", default=">=")
    """How the two numbers must compare."""
    than: Name | StrictInt
    """The other number, or the option that has it."""
    say: Words
    """What is missing if it does not hold."""


class Skip(DefinitionPart):
    """A situation in which no model is asked."""

    when: When
    """The situation."""
    why: Words
    """The reason, which the result gives."""


class Validation(DefinitionPart):
    """The validation by another model."""

    ask: Literal["never", "at_end"] = "never"
    """Whether a model is asked when the workflow ends."""
    effort: Effort = "high"
    """How hard the model should think."""
    skip: tuple[Skip, ...] = ()
    """Situations in which it is not asked after all."""
    evidence: tuple[When, ...] = ()
    """It is asked only if one of these holds; always if there is none."""
    sections: tuple[SectionName, ...] = ALL_SECTIONS
    """The sections of the message that it gets, in this order; empty ones are left out."""
    outcomes: tuple[OutcomeName, ...] = ()
    """The words for an outcome that it may end its answer with."""


class Output(DefinitionPart):
    """The form in which the agent presents the result."""

    when: When = When()
    """The situation; the first that holds counts."""
    form: Annotated[str, Field(min_length=1, max_length=10_000)]
    """The form."""


class UserChoice(DefinitionPart):
    """A choice that the user makes before step 1."""

    option: Name
    """The option whose value is chosen."""
    value: Name
    """Its value that means that the user is asked."""
    question: Words
    """What the user is asked."""


class Workflow(DefinitionPart):
    """A workflow."""

    name: Name
    """The name of its file, without `.md`."""
    summary: Annotated[str, Field(min_length=1, max_length=200)]
    """What it is for, in one sentence."""
    kind: Literal["steps", "template"] = "steps"
    """`steps`: the agent works in steps that are checked. `template`: the text below is the answer, at once."""
    needs: tuple[Part, ...] = ()
    """What step 1 must have besides its text."""
    change: Name | None = None
    """The change of a repository that it looks at if no file is named, such as `git` or `git:staged`."""
    min_steps: StepCount = 1
    """The number of steps before which it cannot end."""
    options: tuple[Option, ...] = ()
    """Its own arguments."""
    confidence: Confidence = Confidence()
    """The words for how sure the agent is."""
    guidance: tuple[Guidance, ...] = ()
    """What an answer says to do next."""
    guards: tuple[EndGuard, ...] = ()
    """What must hold before it can end."""
    validation: Validation = Validation()
    """The validation by another model."""
    severity_filter: Name | None = None
    """The option that names the least severity of the issues that are returned."""
    output: tuple[Output, ...] = ()
    """The form of the result, for the agent."""
    choice: UserChoice | None = None
    """A choice that the user makes before step 1."""
    prompt: str = ""
    """The text below: the system message of the validating model. Of a template: the answer, with `{prompt}` in it."""

    def option(self, name: str) -> Option | None:
        """Return the option of that name."""
        return next((option for option in self.options if option.name == name), None)
