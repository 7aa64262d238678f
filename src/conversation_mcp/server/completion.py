"""Completion of the arguments of resources and prompts."""

from collections.abc import Iterable

from anyio import to_thread
from mcp.types import (
    Completion,
    CompletionArgument,
    PromptReference,
    ResourceTemplateReference,
)

from conversation_mcp.app import App
from conversation_mcp.server.prompts import CONVERSATION_ID, STYLE, load_styles
from conversation_mcp.server.resources import TEMPLATE
from conversation_mcp.stores.base import Store

MAX_VALUES = 100
"""The most that the protocol allows in one completion."""


async def complete(
    reference: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    prompts: frozenset[str],
    app: App,
) -> Completion | None:
    """Return completions of the argument; None for an unknown argument."""
    if isinstance(reference, ResourceTemplateReference):
        known = reference.uri == TEMPLATE.uri_template
    else:
        known = reference.name in prompts
    if known and argument.name == CONVERSATION_ID:
        return _completion(await newest_ids(app.store), argument.value)
    if known and argument.name == STYLE:
        return _completion(await to_thread.run_sync(load_styles), argument.value)
    return None


async def newest_ids(store: Store) -> list[str]:
    """Return the ids of all conversations, newest first by the milliseconds in the id; no file is read."""
    return sorted(
        await to_thread.run_sync(store.finder.ids), key=lambda conversation_id: conversation_id[9:], reverse=True
    )


def _completion(values: Iterable[str], beginning: str) -> Completion:
    fitting = [value for value in values if value.startswith(beginning)]
    return Completion(values=fitting[:MAX_VALUES], total=len(fitting), has_more=len(fitting) > MAX_VALUES)
