"""A provider's list of models, in which some also report windows."""

from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.wire.json_values import JsonObject, count_at, object_at, objects_at, text_at

WINDOWS = ("max_model_len", "context_length", "max_context_length")


def listed_models(body: JsonObject) -> tuple[ListedModel, ...]:
    """Return the models of a list; entries without an id are left out."""
    return tuple(
        ListedModel(text_at(model, "id"), _window_tokens(model))
        for model in objects_at(body, "data")
        if text_at(model, "id").strip()
    )


def _window_tokens(model: JsonObject) -> int | None:
    told = [count_at(model, name) for name in WINDOWS]
    told.append(count_at(object_at(model, "meta"), "n_ctx"))
    return next((window for window in told if window is not None and window > 0), None)
