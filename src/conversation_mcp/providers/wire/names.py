"""The names of models that a provider accepts."""

import re

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Configured

MODEL = re.compile(r"[A-Za-z0-9~@][A-Za-z0-9_.~@+-]{0,100}(?:[/:][A-Za-z0-9~@][A-Za-z0-9_.~@+-]{0,100}){0,4}")


def serves(configured: Configured, model: str) -> bool:
    """Tell whether the name is one of this provider's, or the provider accepts any name that is well-formed."""
    takes_any = configured.definition.accepts_any_model
    return model in configured.own_models or (takes_any and MODEL.fullmatch(model) is not None)


def model_of(request: Request, configured: Configured) -> str:
    """Return the model to ask.

    Raises:
        InvalidInputError: no model is named and none is set.
    """
    if model := request.model or configured.model(request.mode):
        return model
    definition = configured.definition
    raise InvalidInputError(
        f"{definition.title} has no default model: name one, as in {definition.name}:MODEL, or set default_model "
        f"under [providers.{definition.name}].",
        field="model",
    )
