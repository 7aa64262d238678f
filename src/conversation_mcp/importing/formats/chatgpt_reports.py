"""The reports of ChatGPT's deep research, which are in the state of a widget instead of an answer."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from conversation_mcp.importing.formats.chatgpt_contents import texts_in
from conversation_mcp.importing.messages import Data, list_of, name_of, object_of, text_of

STATES = frozenset({"chatgpt_sdk", "tool_response_metadata", "widget_state", "venus_widget_state", "state", "message"})
"""Fields that hold states, which are nested, some of them as JSON text."""
REPORTS = ("report_message", "report_messages", "report")
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
    states = _states(object_of(said.get("metadata")), object_of(said.get("content")))
    for each in _in_states(states):
        report = _report(each)
        if report.key not in seen and any(text.strip() for text in texts_in(object_of(report.said.get("content")))):
            seen.add(report.key)
            yield report


def is_told_state(content: Data) -> bool:
    """Tell whether a content is only the repetition of a state."""
    return any(text.lstrip().startswith(TOLD_STATE) for text in texts_in(content))


def _states(metadata: Data, content: Data) -> Iterator[object]:
    yield metadata
    for text in texts_in(content):
        before, found, state = text.partition(TOLD_STATE)
        if found and not before.strip():
            yield state


def _in_states(states: Iterator[object]) -> Iterator[object]:
    """Yield the values of these states, and of states within them, in fields for reports."""
    waiting = deque(states)
    while waiting:
        facts = object_of(_decoded(waiting.popleft()))
        for name in REPORTS:
            yield from list_of(facts.get(name)) or [facts.get(name)]
        waiting += [value for name, value in facts.items() if name in STATES]


def _decoded(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _report(told: object) -> ResearchReport:
    """Return a report that is a message, its content, or the text of it."""
    facts = object_of(told)
    text = text_of(told) or text_of(facts.get("content")) or text_of(facts.get("text"))
    content = {"text": text} if text else object_of(facts.get("content"))
    return ResearchReport(name_of(facts.get("id")) or "\n".join(texts_in(content)), {**facts, "content": content})
