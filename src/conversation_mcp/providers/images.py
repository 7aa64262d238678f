"""The images that a provider accepts with a message, and how many tokens one takes."""

import math
from typing import Annotated, Literal

from pydantic import Field

from conversation_mcp.providers.data import Data, ForModels

Detail = Literal["low", "auto", "high"]
Pixels = Annotated[int, Field(ge=1)]
Tokens = Annotated[int, Field(ge=0)]


class Formula(ForModels):
    """A formula of image tokens."""


class Tiles(Formula):
    """So many tokens for each square tile, after the image was scaled down."""

    kind: Literal["tiles"]
    tile: Pixels
    each: Tokens
    base: Tokens = 0
    box: Pixels | None = None
    """The side of the square into which the image is scaled first."""
    short_side: Pixels | None = None
    """The length to which the shorter side is scaled then."""

    def tokens(self, width: int, height: int) -> int:
        """Return the tokens of an image of this size in pixels."""
        width, height = _scaled(width, height, max(width, height), self.box)
        width, height = _scaled(width, height, min(width, height), self.short_side)
        return self.base + self.each * math.ceil(width / self.tile) * math.ceil(height / self.tile)


class Patches(Formula):
    """A number of tokens for each small square, up to a limit."""

    kind: Literal["patches"]
    side: Pixels
    factor: float = Field(default=1, gt=0)
    base: Tokens = 0
    box: Pixels | None = None
    """The side of the square into which the image is scaled first."""
    max_patches: int | None = Field(default=None, ge=1)
    """The image is scaled down until it has no more than these."""

    def tokens(self, width: int, height: int) -> int:
        """Return the tokens of an image of this size in pixels."""
        width, height = _scaled(width, height, max(width, height), self.box)
        patches = math.ceil(width / self.side) * math.ceil(height / self.side)
        return self.base + math.ceil(min(patches, self.max_patches or patches) * self.factor)


class Area(Formula):
    """One token for so many pixels."""

    kind: Literal["area"]
    pixels_per_token: Pixels

    def tokens(self, width: int, height: int) -> int:
        """Return the tokens of an image of this size in pixels."""
        return math.ceil(width * height / self.pixels_per_token)


class Flat(Formula):
    """The same number of tokens for every image."""

    kind: Literal["flat"]
    each: Tokens

    def tokens(self, width: int, height: int) -> int:
        """Return the tokens of an image of any size."""
        del width, height
        return self.each


AnyFormula = Annotated[Tiles | Patches | Area | Flat, Field(discriminator="kind")]

USUAL: tuple[Tiles | Patches | Area | Flat, ...] = (
    # In this order those of OpenAI's older models, Google's older ones, OpenAI's newer ones, and Anthropic's.
    Tiles(kind="tiles", tile=512, base=85, each=170, box=2048, short_side=768),
    Tiles(kind="tiles", tile=768, each=258),
    Patches(kind="patches", side=32, factor=1.2, max_patches=2500),
    Area(kind="area", pixels_per_token=750),
)
"""The usual formulas. Of these, the most expensive counts where a model's own is unknown."""


class Images(Data):
    """The images that a provider accepts. The limits of a provider without known ones are cautious."""

    accepted: bool = True
    """Whether its API documents images at all; whether a model sees them is a fact of the model."""
    media_types: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
    max_bytes: int = Field(default=5_000_000, ge=1)
    """The most bytes of one image, before it is encoded."""
    max_total_bytes: int = Field(default=15_000_000, ge=1)
    """The most bytes of all images of a request."""
    max_side_pixels: int = Field(default=2048, ge=1)
    """The longest side; a larger image is shrunk before it is sent."""
    max_count: int = Field(default=20, ge=1)
    """The most images in one request."""
    detail: Detail | None = None
    """The value of `detail`, where the provider knows the field."""
    tokens: tuple[AnyFormula, ...] = ()
    """The formulas of its models; the first that is for the model counts."""


UNKNOWN_IMAGES = Images()
"""The limits at a provider of which nothing is known."""


def image_tokens(images: Images, model: str | None, width: int, height: int) -> int:
    """Return how many tokens an image of this size in pixels takes; too many rather than too few."""
    formulas = (formula for formula in images.tokens if formula.is_for(model or ""))
    if formula := next(formulas, None):
        return formula.tokens(width, height)
    return max(formula.tokens(width, height) for formula in USUAL)


def _scaled(width: int, height: int, side: int, limit: int | None) -> tuple[int, int]:
    """Return the size after it was scaled so that this side is within the limit."""
    if limit is None or side <= limit:
        return width, height
    return max(1, math.ceil(width * limit / side)), max(1, math.ceil(height * limit / side))
