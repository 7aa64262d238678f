"""The content blocks of a message, put together from the events of a stream."""

import json
from collections.abc import Iterator
from typing import Any

from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.json_values import JsonObject, object_at, raw_text_at

PIECES = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""The field that each kind of delta continues, which has the same name in the delta and in the block."""

BEGUN: dict[str, JsonObject] = {
    "text_delta": {"type": "text", "text": ""},
    "citations_delta": {"type": "text", "text": ""},
    "thinking_delta": {"type": "thinking", "thinking": ""},
}
"""The block that a delta begins if its start did not come."""


class Blocks:
    """The blocks of one message so far, unchanged, so that they can be sent back."""

    def __init__(self, kept: KeptSize) -> None:
        self._kept = kept
        self._blocks: dict[int, dict[str, Any]] = {}
        self._replaced: list[tuple[int, JsonObject]] = []
        self._pieces: dict[tuple[int, str], list[str]] = {}

    def start(self, index: int, block: JsonObject) -> None:
        """Add a block, which may have content already."""
        self._kept.data(block)
        if index in self._blocks:  # a place that is given away again does not undo what came
            self._replaced.append((index, self.stop(index)))
        self._blocks[index] = dict(block)

    def add(self, index: int, delta: JsonObject) -> None:
        """Continue a block; a delta of an unknown kind is ignored."""
        kind = raw_text_at(delta, "type")
        if index not in self._blocks and kind in BEGUN:
            self.start(index, BEGUN[kind])
        if name := PIECES.get(kind):
            self._continue(index, name, raw_text_at(delta, name))
        elif kind == "input_json_delta":
            self._continue(index, "input", raw_text_at(delta, "partial_json"))
        elif kind == "citations_delta" and index in self._blocks:
            self._kept.data(delta)
            block = self._blocks[index]
            block["citations"] = [*(block.get("citations") or []), object_at(delta, "citation")]

    def stop(self, index: int) -> JsonObject:
        """Return the whole block; empty if it was never started."""
        block = self._blocks.get(index, {})
        for name in ("text", "thinking", "signature"):
            if pieces := self._pieces.pop((index, name), None):
                block[name] = f"{block.get(name) or ''}{''.join(pieces)}"
        if pieces := self._pieces.pop((index, "input"), None):
            block["input"] = _parsed("".join(pieces))
        return block

    def sendable(self) -> Iterator[JsonObject]:
        """Yield the blocks as they are sent back: a text that is empty would be refused, so it is left out."""
        numbered = [*self._replaced, *((index, self.stop(index)) for index in self._blocks)]
        for _, block in sorted(numbered, key=lambda item: item[0]):
            if block.get("type") != "text" or raw_text_at(block, "text"):
                yield block

    def _continue(self, index: int, name: str, piece: str) -> None:
        if index in self._blocks:
            self._kept.data(piece)  # what is sealed is no text, and may be longer than one
            self._pieces.setdefault((index, name), []).append(piece)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return {}
