"""Smaller versions of images that exceed what a model takes."""

from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

from conversation_mcp.attaching.contents import ImageContent
from conversation_mcp.attaching.headers import GIF, JPEG, PNG, WEBP
from conversation_mcp.errors import InvalidInputError

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = {PNG: "PNG", JPEG: "JPEG", WEBP: "WEBP", GIF: "GIF"}
QUALITIES = (85, 70, 55, 40)
SHRINKING = 0.75
SMALLEST_SIDE_PIXELS = 64
TRANSPARENT = frozenset({"RGBA", "LA", "PA"})


def fitted(image: ImageContent, max_side_pixels: int, max_bytes: int) -> ImageContent:
    """Return the image with the smaller one that is sent in its place, if it needs one; raises as `shrunk`."""
    smaller = shrunk(image, max_side_pixels, max_bytes)
    return image if smaller is image else replace(image, smaller=smaller)


def shrunk(image: ImageContent, max_side_pixels: int, max_bytes: int) -> ImageContent:
    """Return the image if it is within the limits, else a smaller one, upright, and of an animation the first frame.

    It blocks. The image was checked before, so that it is not too large to be decoded.

    Raises:
        InvalidInputError: it exceeds the limits and cannot be made smaller, or the extra for that is not installed.
    """
    if max(image.width, image.height) <= max_side_pixels and len(image.data) <= max_bytes:
        return image
    upright = _upright(image)
    side = min(max_side_pixels, max(upright.size))
    while side >= min(SMALLEST_SIDE_PIXELS, max_side_pixels):
        smaller = _within(upright, side)
        for media_type, data in _encoded(smaller, image.media_type):
            if len(data) <= max_bytes:
                return replace(image, data=data, media_type=media_type, width=smaller.width, height=smaller.height)
        side = int(side * SHRINKING)
    raise _refusal(image, f"cannot be made smaller than {max_bytes:,} bytes")


def _upright(image: ImageContent) -> "Image":
    """Decode the first frame and turn it as its metadata say."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        error = _refusal(image, "is larger than the model takes, and making it smaller needs Pillow")
        error.advice = "Run `pip install 'conversation-mcp[images]'`, or send a smaller image."
        raise error from None
    try:
        with Image.open(BytesIO(image.data), formats=[FORMATS[image.media_type]]) as opened:
            if opened.size != (image.width, image.height):  # before anything is decoded
                raise _refusal(image, "contradicts itself about its size")
            turned = ImageOps.exif_transpose(opened)
            has_alpha = turned.mode in TRANSPARENT or "transparency" in turned.info
            return turned.convert("RGBA" if has_alpha else "RGB")
    except (OSError, SyntaxError, ValueError, MemoryError, Image.DecompressionBombError):
        raise _refusal(image, "is damaged") from None


def _within(image: "Image", side: int) -> "Image":
    from PIL.Image import Resampling

    scale = side / max(image.size)
    if scale >= 1:
        return image
    width, height = (max(1, round(pixels * scale)) for pixels in image.size)
    return image.resize((width, height), Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType] -- takes NumPy, too


def _encoded(image: "Image", media_type: str) -> Iterator[tuple[str, bytes]]:
    """Yield the image without loss unless it was a photograph, then with more and more loss if it is opaque."""
    if media_type != JPEG or image.mode == "RGBA":
        yield PNG, _saved(image, "PNG", optimize=True)
    if image.mode == "RGB":
        for quality in QUALITIES:
            yield JPEG, _saved(image, "JPEG", quality=quality, optimize=True)


def _saved(image: "Image", form: str, **options: int) -> bytes:
    file = BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def _refusal(image: ImageContent, problem: str) -> InvalidInputError:
    error = InvalidInputError(f"{image.path} {problem}.", field="images")
    error.advice = "Send a smaller image, or leave it out."
    return error
