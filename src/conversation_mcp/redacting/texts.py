"""Redaction of whatever is about to be stored; what does the work is loaded only where redaction is on."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, cast

from anyio import to_thread

from conversation_mcp.redacting.kinds import SensitiveKind

if TYPE_CHECKING:
    from conversation_mcp.redacting.redactor import Redactor

Notices = tuple[str, ...]
T = TypeVar("T")
ID_DIGITS = 12


class TextRedaction:
    """Redacts texts and data; without kinds, each comes back as it is. Safe in threads."""

    def __init__(self, kinds: Collection[SensitiveKind] = ()) -> None:
        self._redactor: Redactor | None = None
        if kinds:  # imported only where it is on, to keep the start fast
            from conversation_mcp.redacting import redactor

            self._redactor = redactor.Redactor(kinds)

    @property
    def is_on(self) -> bool:
        """Whether there is anything to redact."""
        return self._redactor is not None

    def text(self, text: str) -> str:
        """Return the text redacted. A long one takes time, so that it belongs into a thread."""
        return text if self._redactor is None else self._redactor.cleaned(text)

    def counting(self) -> "CountedTexts":
        """Return what redacts texts that belong together, and counts what it replaces in them."""
        return CountedTexts(self._redactor)

    async def counted(self, where: str, work: "Callable[[CountedTexts], T]") -> tuple[T, Notices]:
        """Do the work with what redacts texts, in a thread where it is on.

        Returns the outcome, and the notice about what was replaced in the texts that `where` names.
        """
        clean = self.counting()
        done = await to_thread.run_sync(work, clean) if self.is_on else work(clean)
        return done, clean.notices(where)


class CountedTexts:
    """Redacts texts, and counts what it has replaced."""

    def __init__(self, redactor: "Redactor | None") -> None:
        self._redactor = redactor
        self.counts: Counter[SensitiveKind] = Counter()
        """How often something of each kind was replaced so far."""

    def text(self, text: str) -> str:
        """Return the text redacted."""
        if self._redactor is None:
            return text
        found = self._redactor.redact(text)
        self.counts.update(found.counts)
        return found.text

    def maybe(self, text: str | None) -> str | None:
        """Return the text redacted, if there is one."""
        return None if text is None else self.text(text)

    def name(self, name: str) -> str:
        """Return a name that somebody else gave, such as an id: different names stay different, and the same the same.

        One that holds something is followed by a part of its hash.
        """
        text = self.text(name)
        if text == name:
            return name
        return f"{text}#{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:ID_DIGITS]}"

    def data(self, value: object, name: str = "") -> Any:  # noqa: ANN401 -- JSON of whatever shape
        """Return JSON data with every text in it redacted, the names of fields and the digits of numbers included.

        `name` is the field that holds the value: what it says about it counts, as in `"password": "…"`.
        """
        if self._redactor is None or value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._held(value, name)
        if isinstance(value, int | float):
            text = self._held(str(value), name)
            return value if text == str(value) else text
        if isinstance(value, Mapping):
            items = cast("Mapping[str, object]", value).items()
            return {self.name(key): self.data(item, key) for key, item in items}
        return [self.data(item, name) for item in cast("list[object]", value)]

    def notices(self, where: str) -> Notices:
        """Return the notice about what was replaced in the texts that `where` names; none if nothing was."""
        if not self.counts:
            return ()
        from conversation_mcp.redacting.redactor import redaction_notices

        return tuple(redaction_notices(self.counts, where=where))

    def _held(self, value: str, name: str) -> str:
        text = self.text(value)
        if self._redactor is None or text != value or not name:
            return text
        named = self._redactor.redact(f"{name}: {value}")
        if not named.counts or not named.text.startswith(f"{name}: "):
            return value
        self.counts.update(named.counts)
        return named.text.removeprefix(f"{name}: ")
