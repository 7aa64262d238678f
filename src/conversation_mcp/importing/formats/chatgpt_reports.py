"""The reports of ChatGPT's deep research, which are in the state of a widget instead of an answer."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from conversation_mcp.importing.formats.chatgpt_contents import content_of, texts_in
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of, text_of

STATES = frozenset(
    {"chatgptsdk", "toolresponsemetadata", "widgetstate", "venuswidgetstate", "widget", "state", "message"}
)
"""Fields that hold states, which are nested, some of them as JSON text, without `_` and capitals."""
REPORTS = frozenset({"reportmessage", "reportmessages", "report", "reportmarkdown", "finalreport"})
TEXTS = ("content", "text", "markdown")
TOLD_STATE = "The latest state of the widget is:"
"""The text with which a tool introduces a repetition of the state."""


@dataclass(frozen=True)
class ResearchReport:
    """A report as a message, and its key, by which later states of it are recognized."""

    key: str
    said: Data


def reports_in(said: Data) -> Iterator[ResearchReport]:
    """Yield the reports in the states that a message holds, each once."""
    seen: set[str] = set()
    states = _states(object_of(said.get("metadata")), content_of(said))
    for each in _in_states(states):
        report = _report(each)
        if report.key not in seen and any(text.strip() for text in texts_in(content_of(report.said))):
            seen.add(report.key)
            yield report


def is_told_state(content: Data) -> bool:
    """Tell whether a content is only the repetition of a state."""
    return any(text.lstrip().startswith(TOLD_STATE) for text in texts_in(content))


def _states(metadata: Data, content: Data) -> Iterator[object]:
    yield metadata
    yield content
    for text in texts_in(content):
        before, found, state = text.partition(TOLD_STATE)
        if found and not before.strip():
            yield state


def _in_states(states: Iterator[object]) -> Iterator[object]:
    """Yield the values of these states, and of states within them, in fields for reports."""
    waiting = deque(map(_decoded, states))
    while waiting:
        state = waiting.popleft()
        waiting += map(_decoded, list_of(state))
        for name, value in ((name.replace("_", "").lower(), value) for name, value in object_of(state).items()):
            if name in REPORTS:
                yield from list_of(value) or [value]
            elif name in STATES:
                waiting.append(_decoded(value))


def _decoded(value: object) -> object:
    """Return the value of a JSON text; other values and texts remain what they are."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _report(told: object) -> ResearchReport:
    """Return a report that is a message, its content, or the text of it."""
    told = _decoded(told)
    facts = object_of(told)
    text = text_of(told) or next((text for field in TEXTS if (text := text_of(facts.get(field)))), "")
    content = {"text": text} if text else content_of(facts)
    return ResearchReport(name_of(facts.get("id")) or "\n".join(texts_in(content)), {**facts, "content": content})
