"""Which names of models are a provider's."""

import re

from conversation_mcp.providers.definitions import Configured

MODEL = re.compile(r"[A-Za-z0-9~@][A-Za-z0-9_.~@+-]{0,100}(?:[/:][A-Za-z0-9~@][A-Za-z0-9_.~@+-]{0,100}){0,4}")


def serves(configured: Configured, model: str) -> bool:
    """Tell whether the name is known to be this provider's, or it takes any that can be one."""
    definition = configured.definition
    known = {*definition.models, definition.default_model, definition.research_model, configured.default_model}
    return model in known or (definition.accepts_any_model and MODEL.fullmatch(model) is not None)
