"""The user's lists of allowed and disabled models."""

from collections.abc import Iterable

from conversation_mcp.providers.choosing.names import means
from conversation_mcp.settings import Settings
from conversation_mcp.sources import allowed_models_variable

SHOWN_NAMES = 8


class Restrictions:
    """Applies the user's lists. An entry can be any name of a model, in any case, with or without its provider."""

    def __init__(self, settings: Settings) -> None:
        self._allowed = {name: given.allowed_models for name, given in settings.providers.items()}
        self._disabled = settings.disabled_models

    def refusal(self, provider: str, names: Iterable[str]) -> str | None:
        """Return why the model with these names may not be asked at the provider, or None."""
        known = frozenset(name.casefold() for name in names)
        allowed = self._allowed.get(provider, ())
        if allowed and not any(means(name, provider, known) for name in allowed):
            return f"{allowed_models_variable(provider)} allows {_listed(allowed)} only"
        if entry := next((name for name in self._disabled if means(name, provider, known)), None):
            return f"DISABLED_MODELS names {entry}"
        return None


def _listed(names: Iterable[str]) -> str:
    shown = list(names)
    more = f" and {len(shown) - SHOWN_NAMES} more" if len(shown) > SHOWN_NAMES else ""
    return ", ".join(shown[:SHOWN_NAMES]) + more
