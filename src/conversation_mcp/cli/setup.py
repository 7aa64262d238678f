"""What every command begins with: the settings, or only the folder where nothing else counts."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.sources import config_path, conversation_folder

if TYPE_CHECKING:
    from conversation_mcp.settings import LoadedSettings, Settings


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


def folder_from(logs_dir: Path | None) -> Path:
    """Return the folder of the conversations."""
    return conversation_folder(logs_dir, os.environ, config_path(), Path.cwd())
