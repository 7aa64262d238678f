"""Errors about keys of encryption."""

from conversation_mcp.errors.base import NO_STEPS, ConversationMCPError, Steps


class EncryptionKeyError(ConversationMCPError):
    """What is encrypted cannot be read or written with the keys that are set; the message never shows one."""

    code = "ENCRYPTION_KEY"

    def __init__(self, message: str, advice: str, conversation_id: str | None = None) -> None:
        super().__init__(message, conversation_id=conversation_id)
        self._advice = advice

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        del steps
        return self._advice


class KeyMissingError(EncryptionKeyError):
    """Something is encrypted, and no key is set."""

    def __init__(self, path: str, conversation_id: str | None = None) -> None:
        advice = "Set CONVERSATION_MCP_ENCRYPTION_KEY or CONVERSATION_MCP_ENCRYPTION_KEY_FILE; nothing was changed."
        super().__init__(f"{path} is encrypted, and no key is set.", advice, conversation_id)


class WrongKeyError(EncryptionKeyError):
    """Something was encrypted with another key than those that are set."""

    def __init__(self, path: str, key_id: str, own_ids: tuple[str, ...], conversation_id: str | None = None) -> None:
        own = " or ".join(own_ids)
        message = f"{path} is encrypted with another key: its key has the id {key_id}, the one that is set {own}."
        super().__init__(message, "Set the key that it was encrypted with; nothing was changed.", conversation_id)
