"""Shell completion of ids and of names of models."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

from conversation_mcp.cli.selection.ids import LAST
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.sources import config_path

if TYPE_CHECKING:
    from conversation_mcp.records.found import Listed

OFFERED = 50


def complete_ids(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Return the ids, with titles, that begin as typed, newest first; none if the folder cannot be read."""
    logs_dir: object = context.params.get("logs_dir")
    owner: object = context.params.get("owner")
    archived = bool(context.params.get("undo"))  # `archive --undo` means archived conversations
    with suppress(ConversationMCPError):
        finder = finder_from(Path(str(logs_dir)) if logs_dir else None, str(owner) if owner else None)
        if LAST.startswith(incomplete):
            found = finder.newest(OFFERED, archived=archived).found
            last = [(LAST, found[0].title)] if found else []
            return last if incomplete else last + _offers(found)
        return _offers(finder.newest(OFFERED, begins=incomplete, archived=archived).found)
    return []


def _offers(found: "Iterable[Listed]") -> list[tuple[str, str]]:
    return [(each.conversation_id, each.title) for each in found]


def complete_models(incomplete: str) -> list[str]:
    """Return the names of configured providers' models that begin as typed; no provider is asked."""
    with suppress(ConversationMCPError):
        return [name for name in _model_names() if name.startswith(incomplete)][:OFFERED]
    return []


def _model_names() -> Iterable[str]:
    from conversation_mcp.providers.catalog import LOCAL
    from conversation_mcp.providers.choosing.ranking import AUTO, Category
    from conversation_mcp.providers.configuration import configured_in, definitions_in
    from conversation_mcp.providers.model_facts import Catalogue
    from conversation_mcp.settings import load_settings

    settings = load_settings({}, os.environ, config_path(), Path.cwd()).settings
    catalogue = Catalogue(settings.models).load()
    yield from (preset for known in definitions_in(settings).values() for preset in known.presets)
    yield from (*(f"{AUTO}:{category}" for category in get_args(Category)), LOCAL)
    for provider, given in configured_in(settings).items():
        mark = "" if given.definition.presets else f"{provider}:"
        yield from (f"{mark}{model.id}" for model in catalogue.models(provider) if given.is_certain)
