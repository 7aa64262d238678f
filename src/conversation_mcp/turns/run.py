"""The run of a question at its provider, as far as it is known here."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from conversation_mcp.providers.whereabouts import OUTSIDE, Side
from conversation_mcp.records.models import PendingTurn

MAX_PARTIAL_CHARS = 1_000_000


@dataclass(frozen=True)
class SentTo:
    """Everybody who may have got the words, each with the side on which they are then."""

    known: Mapping[str, str] | None = None
    """None where the file does not tell."""
    newest: str | None = None
    """The last one, if the words are there for the first time."""

    def also(self, name: str, side: Side) -> "SentTo":
        """Return the same with a provider that gets the words now."""
        known = self.known or {}
        has_them = known.get(name) == OUTSIDE
        return SentTo({**known, name: OUTSIDE if has_them else side}, None if has_them else name)

    def without_newest(self) -> "SentTo":
        """Return the same without the last one, who could not be reached after all."""
        if self.newest and self.known and self.known[self.newest] == OUTSIDE:
            return SentTo({name: side for name, side in self.known.items() if name != self.newest})
        return self


@dataclass
class Run:
    """What is known of the run, who has the words, and the text so far; `receiver.py` writes it."""

    sent_to: SentTo = field(default_factory=SentTo)
    response_id: str | None = None
    in_background: bool = False
    """Whether it goes on at the provider when nobody listens."""
    text: str = ""

    @classmethod
    def of(cls, pending: PendingTurn, newest: str | None) -> "Run":
        """Return the run of a question as its file tells of it; `newest` has not had the words before."""
        return cls(
            SentTo(pending.sent_to, newest), pending.response_id, bool(pending.background), pending.partial_text or ""
        )

    def hear(self, text: str, *, replaces: bool) -> bool:
        """Take the next piece of the text, and return whether it replaces what came before.

        The first piece of a run that is looked at anew does so too. Of a text that never ends no more is kept than a
        reader can use.
        """
        replaces = replaces or not self.text
        if replaces:
            self.text = ""
        if len(self.text) < MAX_PARTIAL_CHARS:
            self.text += text
        return replaces
