"""The command `models`: lists models and providers."""

from typing import Annotated, Literal

import anyio
import typer

from conversation_mcp.bootstrap import open_providers
from conversation_mcp.cli.options import AsJson, Documents, Limit
from conversation_mcp.cli.output.terminal import console, is_terminal, put, put_fields, put_json
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.conversations.phrases import dotted
from conversation_mcp.providers.choosing.offer import ModelList, OfferedModel, list_offer
from conversation_mcp.settings import Settings

SHOWN_ON_TERMINAL = 20


def models(
    *,
    query: Annotated[str, typer.Argument(metavar="[NAME]", help="Part of a name.", show_default=False)] = "",
    provider: Annotated[str | None, typer.Option(metavar="NAME", help="Only this provider.")] = None,
    ability: Annotated[
        Literal["search", "deep_research", "chat"] | None, typer.Option(help="Only providers that can do this.")
    ] = None,
    limit: Limit = None,
    as_json: AsJson = False,
    documents: Documents = None,
) -> None:
    """Show which models can be asked, and why others cannot.

    Includes the models of local servers that are running. In a pipe, each model is a line of name, window, price in,
    price out, ability and why it may not be asked, separated by tabs.
    """
    settings = settings_from({"documents": documents or None}).settings
    usual = SHOWN_ON_TERMINAL if is_terminal() and not as_json else 0
    found = anyio.run(_offer, settings, query, provider, ability, usual if limit is None else limit)
    if as_json:
        put_json(found.data())
    elif is_terminal():
        _show(found)
    else:
        put_fields(_fields(model) for model in found.models)


async def _offer(
    settings: Settings,
    query: str,
    provider: str | None,
    ability: Literal["search", "deep_research", "chat"] | None,
    limit: int,
) -> ModelList:
    async with open_providers(settings) as providers:
        return await list_offer(providers, query=query, provider=provider, ability=ability, limit=limit or None)


def _show(found: ModelList) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("model", "window", "in", "out", "ability", "notes"):
        is_number = title not in ("model", "notes")
        table.add_column(title, justify="right" if is_number else "left", overflow="fold")
    for model in found.models:
        table.add_row(*_fields(model))
    console().print(table)
    if len(found.models) < found.total_count:
        put(f"\n{len(found.models)} of {found.total_count}; --limit 0 shows all. Prices are for a million tokens.")
    put("\nProviders")
    for provider in found.providers:
        abilities = ", ".join(provider.abilities).replace("_", " ")
        put("  " + dotted(provider.name, abilities, provider.note))


def _fields(model: OfferedModel) -> tuple[str, ...]:
    return (
        model.name,
        f"{model.context_tokens:,}" if model.context_tokens else "",
        "" if model.input_usd_per_million is None else f"${model.input_usd_per_million:g}",
        "" if model.output_usd_per_million is None else f"${model.output_usd_per_million:g}",
        "" if model.ability is None else str(model.ability),
        ", ".join(note for note in (model.status, model.ends and f"until {model.ends}", model.refused) if note),
    )
