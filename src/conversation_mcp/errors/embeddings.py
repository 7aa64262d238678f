"""The error of models that turn texts into vectors."""

from conversation_mcp.errors.base import ConversationMCPError


class EmbeddingsError(ConversationMCPError):
    """There are no vectors, so that only words can be searched for."""

    code = "PROVIDER_UNAVAILABLE"
    may_be_text: bool = False
    """Whether the model works, and another text may have a vector."""
