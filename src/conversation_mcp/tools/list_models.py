"""The tool `list_models`."""

from typing import Annotated

from pydantic import Field

from conversation_mcp.app import App
from conversation_mcp.providers.choosing.offer import ModelList, list_offer
from conversation_mcp.records.modes import Mode
from conversation_mcp.tooling.rendering.models import render_models
from conversation_mcp.tooling.tool import AS_WRITTEN, READS, Input, Tool
from conversation_mcp.turns.ask import Caller


class ListModelsInput(Input):
    """Filters that choose models."""

    query: Annotated[str, AS_WRITTEN] = Field(default="", description="Part of a name.")
    provider: str | None = None
    """Only this provider."""
    ability: Mode | None = None
    """Only providers that can do this."""
    limit: int = Field(default=30, ge=1, le=500)
    """How many models."""


async def list_models(given: ListModelsInput, app: App, caller: Caller) -> ModelList:
    """Return the models that can be asked, and why others cannot."""
    del caller
    return await list_offer(
        app.providers, query=given.query, provider=given.provider, ability=given.ability, limit=given.limit
    )


LIST_MODELS = Tool(
    name="list_models",
    run=list_models,
    render=render_models,
    input_model=ListModelsInput,
    title="List models",
    description="Show the models that can be asked, with window and price, and which providers cannot and why.",
    hints=READS,
    steps={"compare": "list_models"},
)
