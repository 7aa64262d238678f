"""The steps of an interaction while they arrive in pieces."""

from conversation_mcp.providers.interactions.steps import OUTPUT, THOUGHT
from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.json_values import (
    JsonObject,
    count_at,
    object_at,
    objects_at,
    raw_text_at,
)

STEP_OF_DELTA = {"text": OUTPUT, "text_annotation_delta": OUTPUT, "thought_summary": THOUGHT}
"""The step that a delta belongs to, if its start did not come; others are named like their step."""


class _Step:
    def __init__(self, start: JsonObject, kind: str) -> None:
        self.kind = raw_text_at(start, "type") or kind
        self._start = start
        self._texts: list[str] = [raw_text_at(part, "text") for part in objects_at(start, "content")]
        self._notes: list[object] = [note for part in objects_at(start, "content") for note in _notes(part)]
        self._thoughts: list[str] = [raw_text_at(part, "text") for part in objects_at(start, "summary")]
        self._fields: dict[str, object] = {}

    def add(self, delta: JsonObject) -> None:
        match raw_text_at(delta, "type"):
            case "text":
                self._texts.append(raw_text_at(delta, "text"))
            case "text_annotation_delta":
                self._notes += _notes(delta)
            case "thought_summary":
                self._thoughts.append(raw_text_at(object_at(delta, "content"), "text"))
            case "thought_signature":  # finished turns need none
                return
            case _:
                self._fields.update(delta)

    def whole(self) -> JsonObject:
        step = {**self._start, **self._fields, "type": self.kind}
        if self.kind == OUTPUT:
            step["content"] = [{"type": "text", "text": "".join(self._texts), "annotations": self._notes}]
        if self.kind == THOUGHT:
            step["summary"] = [{"type": "text", "text": "".join(self._thoughts)}]
        return step


class GrowingSteps:
    """Collects the steps of a stream in their order."""

    def __init__(self) -> None:
        self._steps: dict[int, _Step] = {}
        self._replaced: list[tuple[int, _Step]] = []
        self._kept = KeptSize()

    def start(self, event: JsonObject) -> str:
        """Begin a step and return its type; raises UnreadableBodyError if too much is kept."""
        return self._step(event, object_at(event, "step")).kind

    def add(self, event: JsonObject) -> str:
        """Add a delta to its step and return the type of the step; raises as `start`."""
        delta = object_at(event, "delta")
        step = self._step(event, {}, delta)
        if raw_text_at(delta, "type") == "text":
            self._kept.text(raw_text_at(delta, "text"))
        else:
            self._kept.data(delta)
        step.add(delta)
        return step.kind

    def whole(self) -> list[JsonObject]:
        """Return the steps so far."""
        numbered = [*self._replaced, *self._steps.items()]  # sorting keeps the order within a place
        return [step.whole() for _, step in sorted(numbered, key=lambda item: item[0])]

    def last(self) -> list[JsonObject]:
        """Return the last step alone."""
        return [self._steps[max(self._steps)].whole()] if self._steps else []

    def __bool__(self) -> bool:
        return bool(self._steps)

    def _step(self, event: JsonObject, start: JsonObject, delta: JsonObject | None = None) -> _Step:
        place = count_at(event, "index")
        place = max(self._steps, default=0) if place is None else place
        if place not in self._steps or start:
            self._kept.data(start)
            kind = raw_text_at(delta or {}, "type")
            if place in self._steps:  # what a step has said stays, even if its place is given away again
                self._replaced.append((place, self._steps[place]))
            self._steps[place] = _Step(start, STEP_OF_DELTA.get(kind, kind))
        return self._steps[place]


def _notes(part: JsonObject) -> list[object]:
    return [dict(note) for note in objects_at(part, "annotations")]
