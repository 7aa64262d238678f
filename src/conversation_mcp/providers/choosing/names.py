"""Names of models: which are allowed, and which are near to one that nobody knows."""

from collections.abc import Collection, Iterable, Mapping

from conversation_mcp.providers.choosing.families import belongs_to
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.settings import Settings

NEAR = 0.6
SHOWN_NEAR = 3
SHOWN_NAMES = 8


def split_name(name: str, providers: Iterable[str]) -> tuple[str, str] | None:
    """Return provider and model of `provider:model`, or None: a colon can belong to a model's own name."""
    head, _, rest = name.partition(":")
    return (head.casefold(), rest) if rest and head.casefold() in providers else None


class Restrictions:
    """What the user allows. A model is meant by any of its names, in whatever letters, with its provider or without."""

    def __init__(self, settings: Settings) -> None:
        self._allowed = {name: given.allowed_models for name, given in settings.providers.items()}
        self._disabled = settings.disabled_models

    def refusal(self, provider: str, names: Iterable[str]) -> str | None:
        """Return why the model of these names may not be asked at the provider, or None."""
        known = frozenset(name.casefold() for name in names)
        allowed = self._allowed.get(provider, ())
        if allowed and not any(means(name, provider, known) for name in allowed):
            variable = f"{provider.upper().replace('-', '_')}_ALLOWED_MODELS"
            return f"{variable} allows {_listed(allowed)} only"
        if entry := next((name for name in self._disabled if means(name, provider, known)), None):
            return f"DISABLED_MODELS names {entry}"
        return None


def known_names(models: Iterable[tuple[str, ModelFacts]]) -> dict[str, str]:
    """Return how each model is shown by each spelling of its names; where two are alike the first one counts.

    A model comes with its provider, or with nothing where its id alone is its name.
    """
    known: dict[str, str] = {}
    for provider, model in models:
        shown = f"{provider}:{model.id}" if provider else model.id
        for spelling in sorted(model.names, key=len, reverse=True):
            known.setdefault(spelling, shown)
    return known


def near_names(wanted: str, known: Mapping[str, str], last: Collection[str] = ()) -> str:
    """Return a sentence with the names that are most like the wanted one, some of them last; nothing when none is."""
    from difflib import get_close_matches

    bare = wanted.rpartition(":")[2] or wanted
    count = len(known) if last else SHOWN_NEAR
    matches = get_close_matches(bare.casefold(), known, count, NEAR) if known else ()
    near = sorted(dict.fromkeys(known[name] for name in matches), key=lambda name: name in last)
    return f" Near to it: {', '.join(near[:SHOWN_NEAR])}." if near else ""


def means(entry: str, provider: str, names: Collection[str]) -> bool:
    """Tell whether an entry of a list means the provider's model of these names, in small letters.

    An entry with another provider in front means none; the name of a family means all of its models.
    """
    bare = entry.casefold().removeprefix(f"{provider}:")
    return bare in names or belongs_to(bare, names)


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = f" and {len(shown) - SHOWN_NAMES} more" if len(shown) > SHOWN_NAMES else ""
    return ", ".join(shown[:SHOWN_NAMES]) + more
