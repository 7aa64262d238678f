"""Which models see images, and what an image takes there."""

from conversation_mcp.providers.base import Provider, as_defined
from conversation_mcp.providers.choosing.choice import Choice
from conversation_mcp.providers.images import UNKNOWN_IMAGES, Images, image_tokens
from conversation_mcp.providers.model_facts import ModelFacts
from conversation_mcp.providers.pdfs import Pdfs

NO_PDFS = Pdfs()
"""The PDFs at a provider that is not built from a definition."""

NO_IMAGES = UNKNOWN_IMAGES.model_copy(update={"accepted": False})


def images_at(provider: Provider) -> Images:
    """Return the images that a provider accepts."""
    # One that is not built from a definition quotes from files, or has a model write from them.
    return defined.configured.definition.images if (defined := as_defined(provider)) else NO_IMAGES


def pdfs_at(provider: Provider) -> Pdfs:
    """Return the PDFs that a provider accepts."""
    return defined.configured.definition.pdfs if (defined := as_defined(provider)) else NO_PDFS


def sight_of(choice: Choice) -> bool | None:
    """Tell whether the chosen model sees images; None if that is unknown, so that only the server can tell."""
    return sees(choice.provider, choice.facts)


def sees(provider: Provider, facts: ModelFacts) -> bool | None:
    """Tell whether a model of a provider sees images; None if that is unknown."""
    return facts.images if images_at(provider).accepted else False


def image_tokens_of(choice: Choice, width: int, height: int) -> int:
    """Return how many tokens an image of this size in pixels takes at the chosen model."""
    return image_tokens(images_at(choice.provider), choice.model, width, height)
