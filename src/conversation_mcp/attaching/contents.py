"""What was read from the disk for a question."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from conversation_mcp.records.hashes import hash_of


@dataclass(frozen=True)
class FileContent:
    """A text file, or some lines of one. `data` is what is kept: of a converted file its bytes, else the named part."""

    path: str
    data: bytes
    text: str
    lines: str | None = None
    """The lines that were named, as `10-80`."""
    pages: int | None = None
    """The number of pages of a whole PDF."""
    is_converted: bool = False
    """Whether the text was made from another format, so that it is kept, too."""
    is_scan: bool = False
    """Whether its pages are pictures; the text only says so."""

    @cached_property
    def sha256(self) -> str:
        """The hash of the bytes."""
        return hash_of(self.data)

    @cached_property
    def text_sha256(self) -> str:
        """The hash of the text, by which the same content is recognized under any name."""
        return hash_of(self.text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class ImageContent:
    """An image, checked by its bytes."""

    path: str
    data: bytes
    media_type: str
    width: int
    height: int
    smaller: "ImageContent | None" = None
    """What is sent in its place, if it is too large for the model."""

    @property
    def sent(self) -> "ImageContent":
        """The image as it is sent."""
        return self.smaller or self

    @cached_property
    def sha256(self) -> str:
        """The hash of the bytes."""
        return hash_of(self.data)


@dataclass(frozen=True)
class LeftOut:
    """A file that is not sent, and why."""

    path: str
    reason: str
    is_image: bool = False
    """Whether it was named as an image."""


@dataclass(frozen=True)
class FilesRead:
    """Everything that the paths of a question lead to, in their order."""

    files: tuple[FileContent, ...] = ()
    images: tuple[ImageContent, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    """Files that were named themselves and are not sent, and the first few of those found in folders."""
    more_left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many more were found in folders and are not sent, by reason."""
