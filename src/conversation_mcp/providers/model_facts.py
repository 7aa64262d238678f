"""Facts about models: a snapshot that the package ships, and the user's own corrections."""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any, NamedTuple

from anyio import to_thread

from conversation_mcp.clock import utc_now
from conversation_mcp.settings import OwnModel

ASSUMED = "assumed"
"""The source of a window that is only assumed."""
ANSWER_TOKENS = 4096
"""The most room that is kept for an answer; in a small window it is a quarter of the window."""
PRICES = ("price_in", "price_out", "price_cached", "price_written", "price_search")


class ModelFacts(NamedTuple):
    """One model of one provider. Windows are in tokens, prices in US dollars per million tokens."""

    id: str
    aliases: tuple[str, ...] = ()
    context: int | None = None
    """The whole window, for the request and the answer."""
    input: int | None = None
    """The largest request, if that is less than the window allows."""
    output: int | None = None
    images: bool | None = None
    """Whether it sees images; None if that is unknown."""
    reasoning: bool = False
    price_in: float | None = None
    price_out: float | None = None
    price_cached: float | None = None
    """The price of input that the provider reads from its cache."""
    price_written: float | None = None
    """The price of input that the provider writes to its cache, if it charges more for that."""
    price_search: float | None = None
    """The price of one search, if searches are charged beside the tokens."""
    long: Mapping[str, float] | None = None
    """The prices of a whole call whose prompt has more tokens than `above`, if those differ."""
    status: str = "active"
    ends: str | None = None
    """The day from which it no longer exists."""
    ability: int | None = None
    """From 0 to 29: below 10 fast, below 20 balanced, else deep; a newer model of the same class ranks higher."""
    named_only: bool = False
    """Whether it is asked only by name, because it has a special purpose or is too expensive."""
    source: str = ""
    """The source of these facts."""
    is_own: bool = False
    """Whether the user set some of these facts."""

    @property
    def names(self) -> frozenset[str]:
        """Every name of the model in lower case, including the part after the last slash."""
        return names_of(self.id, *self.aliases)

    def for_prompt(self, tokens: int) -> "ModelFacts":
        """Return the facts with the prices of a call whose prompt has so many tokens."""
        if self.long is None or tokens <= self.long["above"]:
            return self
        prices: dict[str, Any] = {name: self.long[name] for name in PRICES if name in self.long}
        return self._replace(long=None, **prices)

    @property
    def input_limit(self) -> int | None:
        """The largest request that leaves room for an answer; None if no window is known."""
        if self.context is None:
            return self.input
        answer = min(self.output or ANSWER_TOKENS, ANSWER_TOKENS, self.context // 4)
        return min(self.input or self.context, self.context - answer)


def answer_limit(facts: ModelFacts, input_tokens: int) -> int | None:
    """Return how long an answer to a request of this size can be; None if nothing is known that limits it.

    An assumed window is no limit: a larger one would have room for a longer answer.
    """
    window = None if facts.source == ASSUMED else facts.context
    left = None if window is None else max(1, window - input_tokens)
    return min((limit for limit in (facts.output, left) if limit is not None), default=None)


class Catalogue:
    """The facts of all known models. The shipped ones are read by `ready` or `load`."""

    def __init__(self, own: Mapping[str, OwnModel], now: Callable[[], datetime] = utc_now) -> None:
        """Make the catalogue; `own` has the user's facts by `provider:model`, `now` tells which prices count."""
        self._own = own
        self._now = now
        self._snapshot: Mapping[str, Any] = {}
        self._models: dict[str, tuple[ModelFacts, ...]] = {}

    async def ready(self) -> "Catalogue":
        """Read the snapshot in a thread, unless it is read already, and return the catalogue."""
        return self if self._snapshot else await to_thread.run_sync(self.load)

    def load(self) -> "Catalogue":
        """Read the snapshot and return the catalogue."""
        self._snapshot = json.loads(files("conversation_mcp.providers").joinpath("models.json").read_text("utf-8"))
        return self

    @property
    def date(self) -> str:
        """The day of the snapshot."""
        return str(self._snapshot.get("date", "an unknown day"))

    def models(self, provider: str) -> tuple[ModelFacts, ...]:
        """Return the known models of a provider."""
        if provider not in self._models:
            self._models[provider] = tuple(self._load(provider))
        return self._models[provider]

    def find(self, provider: str, name: str) -> ModelFacts | None:
        """Return the model of that id or alias, ignoring case."""
        wanted = name.casefold()
        for model in self.models(provider):
            if wanted == model.id.casefold() or wanted in {alias.casefold() for alias in model.aliases}:
                return model
        return None

    def find_by_last_part(self, provider: str, name: str) -> ModelFacts | None:
        """Return the model whose id has the name after its last slash, as `openai/gpt-5` has `gpt-5`."""
        wanted = name.casefold()
        return next((m for m in self.models(provider) if m.id.casefold().rpartition("/")[2] == wanted), None)

    def _load(self, provider: str) -> Iterable[ModelFacts]:
        own = {
            name.partition(":")[2].casefold(): (name.partition(":")[2], model)
            for name, model in self._own.items()
            if name.partition(":")[0].casefold() == provider
        }
        source, today = f"models.json of {self.date}", self._now().date().isoformat()
        rows: list[dict[str, Any]] = self._snapshot["providers"].get(provider, [])
        for row in rows:
            facts = ModelFacts(**_priced({"images": False, "source": source, **row}, today))
            facts = facts._replace(aliases=tuple(facts.aliases))
            names = (facts.id, *facts.aliases)
            theirs = next((own.pop(name.casefold()) for name in names if name.casefold() in own), None)
            yield facts if theirs is None else _changed(facts, theirs[1])
        for name, model in own.values():  # those left are models that the snapshot does not know
            yield _changed(ModelFacts(name), model)


def names_of(*names: str) -> frozenset[str]:
    """Return the names in lower case, and the part after the last slash of each."""
    return frozenset(part for name in names for part in (name.casefold(), name.casefold().rpartition("/")[2]))


def _priced(row: dict[str, Any], today: str) -> dict[str, Any]:
    """Return the row with the prices of this day; a row that no package had names its own source."""
    changes = row.pop("later", ())
    row["source"] = row.pop("origin", row["source"])
    for change in changes:
        row |= {name: price for name, price in change.items() if name in PRICES and change["day"] <= today}
    return row


def _changed(facts: ModelFacts, own: OwnModel) -> ModelFacts:
    known = own.model_dump(exclude_none=True, exclude={"aliases"})
    if any(name in known for name in PRICES):
        # A price that the user sets is meant for prompts of any length.
        known["long"] = None
    aliases = (*facts.aliases, *own.aliases)
    return facts._replace(**known, aliases=aliases, source="your configuration file", is_own=True)
