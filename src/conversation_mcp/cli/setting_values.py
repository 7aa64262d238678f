"""The settings as they are shown: each with its value, a secret only by its end."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import SecretStr

from conversation_mcp.settings import LoadedSettings, Settings

SHOWN_OF_SECRET = 4
LONG_ENOUGH = 12
"""Of a shorter secret its end would be too much of it."""


@dataclass(frozen=True)
class Value:
    """One setting; `shown` is empty when it is not set."""

    name: str
    shown: str
    origin: str


def values_of(loaded: LoadedSettings) -> list[Value]:
    """Return every setting in the order of the settings page."""
    return [
        Value(name, shown(getattr(loaded.settings, name)), loaded.origins.get(name, "default"))
        for name in Settings.model_fields
    ]


def shown(value: object) -> str:
    """Return a value as a person would write it in the environment."""
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return end_of(value)
    if isinstance(value, tuple):
        parts = cast("tuple[object, ...]", value)
        separator = os.pathsep if any(isinstance(part, Path) for part in parts) else ","
        return separator.join(map(str, parts))
    return f"{value:g}" if isinstance(value, float) else str(value)


def end_of(secret: SecretStr) -> str:
    """Return the end of a secret, which tells one key from another."""
    text = secret.get_secret_value()
    return f"…{text[-SHOWN_OF_SECRET:]}" if len(text) >= LONG_ENOUGH else "…"
