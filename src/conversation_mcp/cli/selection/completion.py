"""What the shell offers when Tab is pressed in place of an id or the name of a model."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from conversation_mcp.cli.selection.ids import LAST
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.sources import config_path

if TYPE_CHECKING:
    from conversation_mcp.records.found import Listed

OFFERED = 50
PRESETS, PRESETS_OF_AUTO = ("fast", "low", "medium", "high", "xhigh"), ("fast", "balanced", "deep")
OWN_NAMES = "perplexity"
"""Whose models are typed without its name."""


def complete_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return ids with their titles, newest first, that begin as typed; nothing where the folder cannot be read."""
    logs_dir: object = context.params.get("logs_dir")
    archived = bool(context.params.get("undo"))
    with suppress(ConversationMCPError):
        finder = finder_from(Path(str(logs_dir)) if logs_dir else None)
        if LAST.startswith(incomplete):
            found = finder.newest(OFFERED, archived=archived).found
            last = [(LAST, found[0].title)] if found else []
            return last if incomplete else last + _offers(found)
        return _offers(finder.newest(OFFERED, begins=incomplete, archived=archived).found)
    return []


def _offers(found: "Iterable[Listed]") -> list[tuple[str, str]]:
    return [(each.conversation_id, each.title) for each in found]


def complete_models(incomplete: str) -> list[str]:
    """Return the names of models that begin as typed, of the providers that are configured; nobody is asked."""
    with suppress(ConversationMCPError):
        return [name for name in _model_names() if name.startswith(incomplete)][:OFFERED]
    return []


def _model_names() -> Iterable[str]:
    from conversation_mcp.providers.configured import configured_in, is_certain
    from conversation_mcp.providers.model_facts import Catalogue
    from conversation_mcp.settings import load_settings

    settings = load_settings({}, os.environ, config_path(), Path.cwd()).settings
    catalogue = Catalogue(settings.models).load()
    configured = [name for name, given in configured_in(settings).items() if is_certain(given)]
    yield from (*PRESETS, *(f"auto:{name}" for name in PRESETS_OF_AUTO), "local")
    for provider in configured:
        mark = "" if provider == OWN_NAMES else f"{provider}:"
        yield from (f"{mark}{model.id}" for model in catalogue.models(provider))
