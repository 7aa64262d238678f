"""What every command begins with: the settings, or only the folder where nothing else counts."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_mcp.cli.terminal import say
from conversation_mcp.sources import config_path, conversation_folder

if TYPE_CHECKING:
    from conversation_mcp.settings import LoadedSettings, Settings


def settings_from(options: Mapping[str, object]) -> "LoadedSettings":
    """Return the settings, with the warnings about their sources said on stderr."""
    from conversation_mcp.settings import load_settings  # noqa: PLC0415 -- looking for files needs no records

    loaded = load_settings(options, os.environ, config_path(), Path.cwd())
    for warning in loaded.warnings:
        say(f"Warning: {warning}.")
    _check(loaded.settings)
    return loaded


def _check(settings: "Settings") -> None:
    from conversation_mcp.providers.checking import check_names, has_names  # noqa: PLC0415 -- most settings name nothing
    from conversation_mcp.providers.model_facts import Catalogue  # noqa: PLC0415 -- the same

    if has_names(settings):
        check_names(settings, Catalogue(settings.models).load())


def folder_from(logs_dir: Path | None) -> Path:
    """Return the folder of the conversations."""
    return conversation_folder(logs_dir, os.environ, config_path(), Path.cwd())
