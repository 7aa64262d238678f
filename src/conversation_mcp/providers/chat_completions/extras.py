"""What an answer has beside its text where the server is a gateway to applications: attachments and a state."""

from collections.abc import Iterator

from conversation_mcp.providers.wire.bodies import KeptSize
from conversation_mcp.providers.wire.json_values import JsonObject, count_at, object_at, objects_at, raw_text_at
from conversation_mcp.text import counted

STATE_LOST = (
    "The application keeps a state, which is not sent back to it: it will know only the text of the conversation."
)


class Extras:
    """Collects `custom_content` from messages and deltas; pieces of an attachment are merged by its index."""

    def __init__(self, kept: KeptSize) -> None:
        self._kept = kept
        self._attachments: dict[int, dict[str, str]] = {}
        self._has_state = False

    def take(self, message: JsonObject) -> None:
        """Add what a message or delta has."""
        extra = object_at(message, "custom_content")
        self._has_state = self._has_state or bool(extra.get("state"))
        for place, piece in enumerate(objects_at(extra, "attachments")):
            index = count_at(piece, "index")
            told = {name: raw_text_at(piece, name) for name in ("title", "reference_url", "url")}
            # Without a page to cite, the data is a file of its own, and not kept.
            told["content"] = raw_text_at(piece, "data") if raw_text_at(piece, "reference_url") else ""
            self._kept.data([told])
            known = self._attachments.setdefault(place if index is None else index, {})
            known |= {name: text for name, text in told.items() if text}

    def pages(self) -> JsonObject:
        """Return the attachments that quote a page, in the form of citations."""
        return {"citations": [{**one, "url": one["reference_url"]} for one in self._cited()]}

    def notices(self) -> tuple[str, ...]:
        """Return a notice for each kind of thing that is not kept."""
        files = len(self._attachments) - sum(1 for _ in self._cited())
        lost = (f"The answer came with {counted(files, 'attachment')}, not kept here.",) if files else ()
        return (*lost, *([STATE_LOST] if self._has_state else []))

    def _cited(self) -> Iterator[dict[str, str]]:
        return (one for one in self._attachments.values() if one.get("reference_url"))
