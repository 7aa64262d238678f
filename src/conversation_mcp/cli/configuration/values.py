"""The settings as they are shown: each with its value and origin, secrets only with their last characters."""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import SecretStr

from conversation_mcp.settings import TABLES, LoadedSettings, Settings
from conversation_mcp.sources import provider_settings, variable_of
from conversation_mcp.text import REDACTED, presentable

SHOWN_OF_SECRET = 4
MASTER_KEY = "encryption_key"
CREDENTIALS = re.compile(r"(?<=//)[^/@]*(?=@)|(?<=\?).+")
"""The parts of an address that may be secret: user and password, and the query."""
LONG_ENOUGH = 12
"""The length of a secret from which its last characters are shown; of a shorter one they would reveal too much."""


@dataclass(frozen=True)
class Value:
    """One setting. `shown` is empty if it is not set; `variables` are the environment variables that can set it."""

    name: str
    shown: str
    origin: str
    variables: tuple[str, ...]
    is_secret: bool = False
    is_masked: bool = False
    """Whether a part of it is hidden."""

    @property
    def is_private(self) -> bool:
        """Whether it has a secret, which must not be written to a client's file."""
        return self.is_secret or self.is_masked or REDACTED in self.shown

    @property
    def is_from_environment(self) -> bool:
        """Whether an environment variable sets it."""
        return self.origin in self.variables

    @property
    def label(self) -> str:
        """The name for people: its first environment variable, or else the setting's own name."""
        return self.variables[0] if self.variables else self.name


def values_of(loaded: LoadedSettings) -> list[Value]:
    """Return every setting in the order of the settings page; of providers' settings only those set or suggested."""
    settings, origins = loaded.settings, loaded.origins
    of_providers = [
        Value(
            name=setting.name,
            shown=masked(whole) if setting.field == "base_url" else whole,
            origin=origins.get(setting.name, "default"),
            variables=setting.variables,
            is_secret=setting.field == "api_key",
            is_masked=setting.field == "base_url" and masked(whole) != whole,
        )
        for setting in provider_settings({name: table.extra for name, table in settings.providers.items()})
        if setting.name in origins or setting.is_suggested
        for whole in [shown(getattr(settings.provider(setting.provider), setting.field))]
    ]
    return of_providers + [
        Value(
            name,
            hidden,
            origins.get(name, "default"),
            (variable_of(name),),
            is_masked=hidden != whole or (name == MASTER_KEY and bool(whole)),
        )
        for name in Settings.model_fields
        if name not in TABLES
        for whole in [shown(getattr(settings, name), is_master=name == MASTER_KEY)]
        for hidden in [masked(whole) if name == "store" else whole]
    ]


def shown(value: object, *, is_master: bool = False) -> str:
    """Return a value as it would be written in an environment variable; of a master key, only that there is one."""
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return "…" if is_master else end_of(value)
    if isinstance(value, tuple):
        parts = cast("tuple[object, ...]", value)
        separator = os.pathsep if any(isinstance(part, Path) for part in parts) else ","
        return presentable(separator.join(map(str, parts)))
    return f"{value:g}" if isinstance(value, float) else presentable(str(value))


def masked(address: str) -> str:
    """Return an address without the parts that may be secret."""
    return presentable(CREDENTIALS.sub("…", address))


def end_of(secret: SecretStr) -> str:
    """Return the last characters of a secret, enough to tell one key from another."""
    text = secret.get_secret_value()
    return f"…{text[-SHOWN_OF_SECRET:]}" if len(text) >= LONG_ENOUGH else "…"
