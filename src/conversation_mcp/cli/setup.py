"""The setup of every command: the settings, or only the place of the conversations if nothing else is needed."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.clock import utc_now
from conversation_mcp.sources import config_path, encryption_of, owner_of, store_of
from conversation_mcp.stores.catalog import open_finder

if TYPE_CHECKING:
    from conversation_mcp.settings import LoadedSettings, Settings
    from conversation_mcp.stores.finder import Finder


def settings_from(options: Mapping[str, object]) -> "LoadedSettings":
    """Return the settings; print the warnings about their sources on stderr."""
    from conversation_mcp.settings import load_settings

    loaded = load_settings(options, os.environ, config_path(), Path.cwd())
    for warning in (*loaded.warnings, *_check(loaded.settings)):
        say(f"Warning: {warning}.")
    return loaded


def _check(settings: "Settings") -> "Iterable[str]":
    """Check the names of models in the settings, and yield warnings about lists without an effect."""
    from conversation_mcp.providers.choosing.name_checks import (
        check_names,
        has_names,
        idle_lists,
    )
    from conversation_mcp.providers.model_facts import Catalogue

    if has_names(settings):  # the catalogue of models is slow to load, and most settings name none
        catalogue = Catalogue(settings.models).load()
        check_names(settings, catalogue)
        yield from idle_lists(settings, catalogue)


def store_url_from(logs_dir: Path | None) -> str:
    """Return the URL of the store; no other setting is read."""
    return store_of(logs_dir, os.environ, config_path(), Path.cwd())


def finder_from(logs_dir: Path | None, owner: str | None = None) -> "Finder":
    """Return the finder of the owner's conversations; no other setting is read."""
    sources = os.environ, config_path(), Path.cwd()
    return open_finder(
        store_of(logs_dir, *sources), utc_now, owner_of(owner, *sources), encryption=encryption_of(*sources)
    )


def finder_of(settings: "Settings", owner: str | None = None) -> "Finder":
    """Return the finder of the store in these settings, for another owner than theirs if one is given."""
    return open_finder(settings.store_url, utc_now, owner or settings.owner, encryption=settings.encryption)
