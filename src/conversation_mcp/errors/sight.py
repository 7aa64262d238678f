"""Errors of models that do not see images."""

from conversation_mcp.errors.base import NO_STEPS, Steps, offered
from conversation_mcp.errors.providers import ModelUnavailableError, ProviderError, ProviderRejectedError


class SightError(ProviderError):
    """The question has images, and the model does not see them."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.seeing: tuple[str, ...] = ()
        """Models that can be asked and see, first those that disclose the words to no one new."""
        self.outside: tuple[str, ...] = ()
        """More such models, outside this machine, for words that were only on it."""

    def next_step(self, steps: Steps = NO_STEPS) -> str:
        named = offered("Name a model that sees", self.seeing, self.outside)
        compare = f"{steps['compare']} shows which models see. " if "compare" in steps and not named else ""
        return f"{named}{compare}{'Or ask' if named else 'Ask'} without the images."


class BlindModelError(SightError, ModelUnavailableError):
    """The chosen model is known not to see; nothing was sent."""

    def __init__(self, model: str) -> None:
        super().__init__(f"{model} does not see images. Nothing was sent.")
        self.model = model


class ImagesRefusedError(SightError, ProviderRejectedError):
    """The server says that the model does not see; nothing was billed."""

    def __init__(self, provider: str, cause: str) -> None:
        super().__init__(f"{provider} refused the images: {cause}. Nothing was billed for this call.")
