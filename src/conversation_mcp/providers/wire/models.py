"""A provider's list of models, in which some also report windows and sight."""

from conversation_mcp.providers.base import ListedModel
from conversation_mcp.providers.wire.json_values import JsonObject, count_at, items_at, object_at, objects_at, text_at

# The fields of vLLM, OpenRouter, Mistral and Anthropic; that of llama.cpp is further down.
WINDOWS = ("max_model_len", "context_length", "max_context_length", "max_input_tokens")
SIGHT = frozenset({"image", "multimodal", "vision"})


def listed_models(body: JsonObject) -> tuple[ListedModel, ...]:
    """Return the models of a list; entries without an id are left out."""
    # llama.cpp has a second list, in which each model has the words for what it can do.
    others = {text_at(model, "name"): model for model in objects_at(body, "models")}
    return tuple(
        ListedModel(
            text_at(model, "id"),
            _window_tokens(model),
            _sees(model, others.get(text_at(model, "id"), {})),
            takes_system=_takes_system(model),
        )
        for model in objects_at(body, "data")
        if text_at(model, "id").strip()
    )


def _window_tokens(model: JsonObject) -> int | None:
    told = [count_at(model, name) for name in WINDOWS]
    told.append(count_at(object_at(model, "meta"), "n_ctx"))
    return next((window for window in told if window is not None and window > 0), None)


def _takes_system(model: JsonObject) -> bool | None:
    value = object_at(model, "features").get("system_prompt")
    return value if isinstance(value, bool) else None


def _sees(model: JsonObject, other: JsonObject) -> bool | None:
    """Tell whether the model sees, as Mistral, Anthropic, OpenRouter or llama.cpp say it; None if nothing is said."""
    vision = object_at(model, "capabilities").get("vision")
    if isinstance(vision, bool):
        return vision
    image_input = object_at(object_at(model, "capabilities"), "image_input").get("supported")
    if isinstance(image_input, bool):
        return image_input
    words = (*items_at(object_at(model, "architecture"), "input_modalities"), *items_at(other, "capabilities"))
    return any(word in SIGHT for word in words if isinstance(word, str)) if words else None
