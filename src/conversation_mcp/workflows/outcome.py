"""The outcome that a validating model may end its answer with, as one line of JSON after its text."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from conversation_mcp.workflows.definition import OutcomeName

KEEPS_OPEN = frozenset({"needs_files", "more_to_come"})
"""The outcomes after which the run goes on."""
MAX_LINE_CHARS, MAX_NEEDS, MAX_NEED_CHARS = 20_000, 50, 500
OUTCOMES: tuple[OutcomeName, ...] = get_args(OutcomeName)
MEANINGS: Mapping[OutcomeName, str] = {
    "needs_files": "you cannot judge without other files; `needs` lists their paths",
    "too_broad": "the request is too large for one answer; `needs` lists the parts to ask for one by one",
    "no_bug_found": "you find no fault that explains what was reported; `needs` lists what would show it",
    "more_to_come": "your answer is not complete and another step should ask for the rest; `needs` lists it",
    "full_review_advised": "what you see calls for a full review of more than this; `needs` lists the places",
    "sample_needed": "you need an example to follow, such as an existing test; `needs` says of what",
}
FENCE = "```"


@dataclass(frozen=True)
class ValidationOutcome:
    """The outcome that an answer names, and what it says is needed."""

    name: OutcomeName | None = None
    needs: tuple[str, ...] = ()

    @property
    def keeps_open(self) -> bool:
        """Whether the run goes on."""
        return self.name in KEEPS_OPEN


NO_OUTCOME = ValidationOutcome()


def outcome_of(text: str) -> ValidationOutcome:
    """Return the outcome in the last line of the answer, if that is one; the answer itself stays as it is."""
    line = _last_line(text)
    if not line.startswith("{") or len(line) > MAX_LINE_CHARS:
        return NO_OUTCOME
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return NO_OUTCOME
    name = cast("dict[str, Any]", found).get("outcome")
    if not isinstance(name, str) or name not in OUTCOMES:
        return NO_OUTCOME
    return ValidationOutcome(name, _texts(cast("dict[str, Any]", found).get("needs")))


def _last_line(text: str) -> str:
    """Return the last line with words, also if it stands in a fence of its own."""
    rest = text.rstrip()
    if rest.endswith(FENCE):
        rest = rest.removesuffix(FENCE).rstrip()
    return rest[rest.rfind("\n") + 1 :].strip()


def _texts(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    texts = (item.strip()[:MAX_NEED_CHARS] for item in items if isinstance(item, str) and item.strip())
    return tuple(texts)[:MAX_NEEDS]
