"""The checks of a definition as a whole: its parts name only each other's names and values."""

import re
from collections import Counter
from collections.abc import Iterator

from conversation_mcp.records.workflow_steps import SEVERITIES
from conversation_mcp.text import listed, nearest
from conversation_mcp.workflows.definition import When, Workflow
from conversation_mcp.workflows.options import problem_with

NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
OPTION_NAME = re.compile(r"[a-z][A-Za-z0-9]{0,39}")
SLOT = "{prompt}"
Path = tuple[str | int, ...]
Problems = Iterator[tuple[Path, str]]
ALWAYS = When()


def problems_in(definition: Workflow) -> Problems:
    """Yield what is wrong, each with the path of its field."""
    yield from _options(definition)
    yield from _confidence(definition)
    yield from _rules(definition)
    for path, when in _situations(definition):
        yield from _when(definition, when, path)
    yield from _ends(definition)
    yield from _template(definition) if definition.kind == "template" else _steps(definition)


def _options(definition: Workflow) -> Problems:
    counts = Counter(option.name for option in definition.options)
    for number, option in enumerate(definition.options):
        path: Path = ("options", number)
        if not OPTION_NAME.fullmatch(option.name):
            yield (*path, "name"), "must be in camelCase, letters and digits only, at most 40"
        if counts[option.name] > 1:
            yield (*path, "name"), f"there are {counts[option.name]} options of the name {option.name}"
        if option.choices and option.type not in ("string", "list"):
            yield (*path, "choices"), "only a string or a list can have choices"
        if option.default is not None and (problem := problem_with(option, option.default)):
            yield (*path, "default"), problem
        if option.kept and option.required in ("last", "always"):
            yield (*path, "kept"), f"must be false if the option is required {option.required}"


def _confidence(definition: Workflow) -> Problems:
    confidence = definition.confidence
    if confidence.end is not None and confidence.end not in confidence.scale:
        yield ("confidence", "end"), f"must be {listed(confidence.scale, 'or') or 'left out, as the scale is empty'}"
    if "confidence" in definition.needs and not confidence.scale:
        yield ("needs",), "cannot have confidence if the scale is empty"


def _rules(definition: Workflow) -> Problems:
    last = len(definition.guidance) - 1
    for number, rule in enumerate(definition.guidance):
        if number < last and rule.when == ALWAYS:
            yield ("guidance", number, "when"), "always holds, so no rule after it counts"
        if rule.when.ended and rule.when.last:
            yield ("guidance", number, "when"), "never holds: after the end, no step is next"
        if number == last and rule.when != ALWAYS:
            yield ("guidance", number, "when"), "must be left out in the last rule, so that something is always said"


def _situations(definition: Workflow) -> Iterator[tuple[Path, When]]:
    yield from ((("guidance", place, "when"), rule.when) for place, rule in enumerate(definition.guidance))
    yield from ((("output", place, "when"), rule.when) for place, rule in enumerate(definition.output))
    validation = definition.validation
    yield from ((("validation", "skip", place, "when"), rule.when) for place, rule in enumerate(validation.skip))
    yield from ((("validation", "evidence", place), when) for place, when in enumerate(validation.evidence))


def _when(definition: Workflow, when: When, path: Path) -> Problems:
    for word in when.confidence:
        if word not in definition.confidence.scale:
            yield (*path, "confidence"), f"{word!r} is not in the scale of confidence"
    for name, values in when.options.items():
        option = definition.option(name)
        if option is None:
            yield (*path, "options", name), _no_option(definition, name)
        elif option.choices and (wrong := [value for value in values if value not in option.choices]):
            yield (*path, "options", name), f"{wrong[0]!r} is not a choice of {name}"
    if when.max_step is not None and when.max_step < (when.min_step or 1):
        yield (*path, "max_step"), "must not be less than min_step"


def _ends(definition: Workflow) -> Problems:
    for number, guard in enumerate(definition.guards):
        for field, name in (("option", guard.option), ("than", guard.than)):
            if isinstance(name, str):
                option = definition.option(name)
                if option is None:
                    yield ("guards", number, field), _no_option(definition, name)
                elif option.type != "integer":
                    yield ("guards", number, field), f"{name} must be an integer"
    for field, name in (
        ("severity_filter", definition.severity_filter),
        ("choice", definition.choice and definition.choice.option),
    ):
        if name is not None and definition.option(name) is None:
            yield (field,), _no_option(definition, name)
    filtering = definition.option(definition.severity_filter or "")
    if filtering and not set(filtering.choices) & set(SEVERITIES):
        yield ("severity_filter",), f"{filtering.name} must have choices among {listed(SEVERITIES)}"
    choice = definition.choice
    option = choice and definition.option(choice.option)
    if choice and option and choice.value not in option.choices:
        yield ("choice", "value"), f"{choice.value!r} is not a choice of {choice.option}"


def _steps(definition: Workflow) -> Problems:
    if not definition.guidance:
        yield ("guidance",), "is missing: at least one rule says what to do next"
    if definition.validation.ask == "at_end" and not definition.prompt:
        yield ("prompt",), "is missing below the second +++: the validating model gets it as its system message"


def _template(definition: Workflow) -> Problems:
    if definition.prompt.count(SLOT) != 1:
        yield ("prompt",), f"must have {SLOT} once, where the words of the user go"
    for field in ("guidance", "guards", "output", "options", "needs"):
        if getattr(definition, field):
            yield (field,), "a template has none, as it has no steps"
    if definition.validation.ask != "never":
        yield ("validation", "ask"), "must be never: a template asks no model"
    if definition.choice:
        yield ("choice",), "a template has none, as it has no steps"


def _no_option(definition: Workflow, name: str) -> str:
    near = nearest(name, [option.name for option in definition.options])
    return f"there is no option {name!r}" + (f"; did you mean {near}?" if near else "")
