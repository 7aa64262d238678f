"""A definition as text for people."""

from collections.abc import Iterable, Iterator

from conversation_mcp.text import counted, listed
from conversation_mcp.workflows.definition import EndGuard, Option, When, Workflow


def readable(definition: Workflow, owner: str) -> str:
    """Return the whole definition as Markdown; `owner` says whose it is."""
    return "\n\n".join(filter(None, _parts(definition, owner)))


def _parts(definition: Workflow, owner: str) -> Iterator[str]:
    yield f"# {definition.name}"
    yield f"{definition.summary} ({owner})"
    yield _list("", _facts(definition))
    yield _list("## Options", map(_option, definition.options))
    yield _list("## What it says", (f"{situation(rule.when)}: {rule.say}" for rule in definition.guidance))
    yield _list("## What must hold before the end", map(_guard, definition.guards))
    yield _list("## When no model is asked", (f"{situation(s.when)}: {s.why}" for s in definition.validation.skip))
    for output in definition.output:
        yield f"## The form of the result, {situation(output.when)}\n\n{output.form.strip()}"
    yield f"## {'Answer' if definition.kind == 'template' else 'Prompt'}\n\n{definition.prompt}" * bool(
        definition.prompt
    )


def _facts(definition: Workflow) -> Iterator[str]:
    if definition.kind == "template":
        yield "It has no steps: its text is the answer."
        return
    validation = definition.validation
    yield (
        "Another model is never asked."
        if validation.ask == "never"
        else (f"Another model is asked at the end, with effort {validation.effort}.")
    )
    if validation.evidence:
        yield f"It is asked only if: {listed(map(situation, validation.evidence), 'or')}."
    if definition.needs:
        yield f"Step 1 needs {listed(definition.needs)}."
    if definition.min_steps > 1:
        yield f"It has at least {counted(definition.min_steps, 'step')}."
    if definition.confidence.scale:
        yield f"Confidence: {listed(definition.confidence.scale, 'or')}."
    if definition.choice:
        yield f"The user is asked before step 1: {definition.choice.question}"
    if definition.severity_filter:
        yield f"The option {definition.severity_filter} filters the issues that are returned."
    if validation.outcomes:
        yield f"The model may name an outcome: {listed(validation.outcomes, 'or')}."


def _option(option: Option) -> str:
    kind = listed(option.choices, "or") or option.type
    default = "" if option.default is None else f", default {_value(option.default)}"
    required = "" if option.required == "never" else f", required {option.required}"
    return f"`{option.name}` ({kind}{default}{required}): {option.about}"


def _guard(guard: EndGuard) -> str:
    return f"{guard.option} {guard.comparison} {guard.than}: {guard.say}"


def situation(when: When) -> str:
    """Return the situation in words; `otherwise` if it always holds."""
    return ", ".join(_conditions(when)) or "otherwise"


def _conditions(when: When) -> Iterator[str]:
    counts = (
        ("from step {}", when.min_step), ("up to step {}", when.max_step), ("from {} steps in all", when.min_total),
        ("from {} steps with findings", when.min_findings), ("from {} files", when.min_files),
        ("from {} issues", when.min_issues), ("up to {} issues", when.max_issues),
    )  # fmt: skip
    yield from (words.format(number) for words, number in counts if number is not None)
    if when.confidence:
        yield f"confidence {listed(when.confidence, 'or')}"
    if when.severity:
        yield f"an issue of severity {when.severity} or above"
    yield from (f"{name} {listed(map(_value, values), 'or')}" for name, values in when.options.items())
    flags = (
        ("before the last step", when.last), ("after the end", when.ended),
        ("continuing a conversation", when.continuing),
        ("revising a step", when.revising), ("on a branch", when.branching),
    )  # fmt: skip
    yield from (words if flag else f"not {words}" for words, flag in flags if flag is not None)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(heading: str, lines: Iterable[str]) -> str:
    items = "\n".join(f"- {line}" for line in lines)
    return "\n\n".join(filter(None, (heading, items))) if items else ""
