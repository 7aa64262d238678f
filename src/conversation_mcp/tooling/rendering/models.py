"""The list of models as text."""

from conversation_mcp.conversations.phrases import dotted
from conversation_mcp.providers.choosing.offer import ModelList, OfferedModel, OfferedProvider


def render_models(found: ModelList) -> str:
    """Return a line for each model, then one for each provider."""
    count, total = len(found.models), found.total_count
    head = f"{total} models" if count == total else f"{count} of {total} models; query or provider shows others"
    models = [f"- {model.name}{_facts(model)}" for model in found.models]
    providers = [f"- {_provider(provider)}" for provider in found.providers]
    return "\n\n".join(("\n".join((head, *models)), "\n".join(("Providers", *providers))))


def _facts(model: OfferedModel) -> str:
    price = (
        f"${model.input_usd_per_million:g} in, ${model.output_usd_per_million:g} out per million"
        if model.input_usd_per_million is not None and model.output_usd_per_million is not None
        else ""
    )
    facts = (
        f"{model.context_tokens:,} tokens" if model.context_tokens else "",
        price,
        f"ability {model.ability}" if model.ability is not None else "",
        "images" if model.images else "",
        "reasoning" if model.reasoning else "",
        model.status or "",
        f"until {model.ends}" if model.ends else "",
        f"not allowed: {model.refused}" if model.refused else "",
    )
    return "".join(f" · {fact}" for fact in facts if fact)


def _provider(provider: OfferedProvider) -> str:
    abilities = ", ".join(provider.abilities).replace("_", " ")
    return dotted(provider.name, abilities, provider.note)
