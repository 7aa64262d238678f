"""The errors and limits that all converters share."""

MAX_CHARS = 32_000_000


class ConversionError(Exception):
    """The file is not what its name says, or is protected."""


class TooMuchError(Exception):
    """The file unpacks to more than the limit."""


class NoTextError(Exception):
    """The file has pages, but no text on any of them."""

    def __init__(self, pages: int) -> None:
        super().__init__(pages)
        self.pages = pages


def bounded(lines: list[str]) -> list[str]:
    """Return the lines, unless they exceed the limit."""
    if sum(map(len, lines)) > MAX_CHARS:
        raise TooMuchError
    return lines
