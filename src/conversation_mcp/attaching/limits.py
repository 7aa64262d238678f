"""How much is read for one question, and the words for what exceeds it."""

from dataclasses import dataclass

from conversation_mcp.settings import Settings

MAX_ENTRIES = 500_000
"""How many entries of folders are looked at."""
MAX_SIDE_PIXELS = 30_000


class RefusedError(Exception):
    """A file that is not sent; the message is the reason, the same for all files that have it."""


@dataclass(frozen=True)
class ReadLimits:
    """The limits that the settings set."""

    files: int
    file_bytes: int
    document_bytes: int
    total_bytes: int
    image_pixels: int
    seconds: float

    @classmethod
    def of(cls, settings: Settings) -> "ReadLimits":
        """Take them from the settings."""
        return cls(
            settings.max_files,
            settings.max_file_bytes,
            settings.max_document_bytes,
            settings.max_files_total_bytes,
            settings.max_image_pixels,
            settings.max_files_seconds,
        )

    @property
    def too_many(self) -> str:
        """The reason for a file after the last one that is read."""
        return f"beyond {self.files:,} files (CONVERSATION_MCP_MAX_FILES)"

    @property
    def too_much(self) -> str:
        """The reason for a file that exceeds the total."""
        return f"beyond {self.total_bytes:,} bytes of all files (CONVERSATION_MCP_MAX_FILES_TOTAL_BYTES)"

    @property
    def too_late(self) -> str:
        """The reason for a file that was not reached in time."""
        return f"reading took more than {self.seconds:g} seconds (CONVERSATION_MCP_MAX_FILES_SECONDS)"

    def too_large(self, *, is_document: bool) -> str:
        """Return the reason for a file that exceeds the limit of its kind."""
        if is_document:
            return f"larger than {self.document_bytes:,} bytes (CONVERSATION_MCP_MAX_DOCUMENT_BYTES)"
        return f"larger than {self.file_bytes:,} bytes (CONVERSATION_MCP_MAX_FILE_BYTES)"

    def check_pixels(self, width: int, height: int) -> None:
        """Refuse an image that would take too much memory once it is decoded.

        Raises:
            RefusedError: it is too wide, too high or too large.
        """
        if max(width, height) > MAX_SIDE_PIXELS:
            raise RefusedError(f"an image with a side of more than {MAX_SIDE_PIXELS:,} pixels")
        if width * height > self.image_pixels:
            raise RefusedError(
                f"an image of more than {self.image_pixels:,} pixels (CONVERSATION_MCP_MAX_IMAGE_PIXELS)"
            )
