"""What every command begins with: the settings, or only the folder where nothing else counts."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.clock import utc_now
from conversation_mcp.sources import config_path, store_of, store_url
from conversation_mcp.stores.catalog import open_finder

if TYPE_CHECKING:
    from conversation_mcp.settings import LoadedSettings, Settings
    from conversation_mcp.stores.finder import Finder


def settings_from(options: Mapping[str, object]) -> "LoadedSettings":
    """Return the settings, with the warnings about their sources said on stderr."""
    from conversation_mcp.settings import load_settings

    loaded = load_settings(options, os.environ, config_path(), Path.cwd())
    for warning in (*loaded.warnings, *_check(loaded.settings)):
        say(f"Warning: {warning}.")
    return loaded


def _check(settings: "Settings") -> "Iterable[str]":
    """Yield what is odd about names of models in the settings, after a look whether they can be meant at all."""
    from conversation_mcp.providers.choosing.name_checks import (
        check_names,
        has_names,
        idle_lists,
    )
    from conversation_mcp.providers.model_facts import Catalogue

    if has_names(settings):
        catalogue = Catalogue(settings.models).load()
        check_names(settings, catalogue)
        yield from idle_lists(settings, catalogue)


def finder_from(logs_dir: Path | None) -> "Finder":
    """Return what finds the conversations, without a look at any other setting."""
    return open_finder(store_of(logs_dir, os.environ, config_path(), Path.cwd()), utc_now)


def finder_of(settings: "Settings") -> "Finder":
    """Return what finds the conversations of a program with these settings."""
    return open_finder(store_url(settings.store, settings.logs_dir), utc_now)
