"""What is known here of a question's run at its provider."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from conversation_mcp.providers.whereabouts import OUTSIDE, Side
from conversation_mcp.records.models import PendingTurn

MAX_PARTIAL_CHARS = 1_000_000


class SentTo(NamedTuple):
    """All providers that may have received the words, each with its side: this machine or outside."""

    known: Mapping[str, str] | None = None
    """None if the file does not say."""
    newest: str | None = None
    """The last recipient, if it had no words of this conversation before."""

    def also(self, name: str, side: Side) -> "SentTo":
        """Return a copy with the provider that gets the words now."""
        known = self.known or {}
        has_them = known.get(name) == OUTSIDE  # what was outside once stays so, whichever model is asked now
        return SentTo({**known, name: OUTSIDE if has_them else side}, None if has_them else name)

    def without_newest(self) -> "SentTo":
        """Return a copy without the last recipient, which could not be reached after all."""
        if self.newest and self.known and self.known[self.newest] == OUTSIDE:
            return SentTo({name: side for name, side in self.known.items() if name != self.newest})
        return self


@dataclass
class Run:
    """The id of the run, the recipients of the words, and the text so far.

    Written by `receiver.py`, before the question is sent by `summarizer.py`.
    """

    sent_to: SentTo = field(default_factory=SentTo)
    response_id: str | None = None
    in_background: bool = False
    """Whether it continues at the provider when nobody listens."""
    text: str = ""

    @classmethod
    def of(cls, pending: PendingTurn, newest: str | None) -> "Run":
        """Return the run of a question as its file describes it; `newest` has not had the words before."""
        return cls(
            SentTo(pending.sent_to, newest), pending.response_id, bool(pending.background), pending.partial_text or ""
        )

    def hear(self, text: str, *, replaces: bool) -> bool:
        """Add the next piece of the text, and return whether it replaces what came before.

        The first piece of a run that is followed anew does so, too. A text that never ends is kept up to a limit.
        """
        replaces = replaces or not self.text
        if replaces:
            self.text = ""
        if len(self.text) < MAX_PARTIAL_CHARS:
            self.text += text
        return replaces
