"""The records of files and images that a question names."""

from collections.abc import Iterable
from typing import Literal, Protocol

from conversation_mcp.records.record import Record

SentAs = Literal["whole", "diff", "known", "skipped"]


class AttachedFile(Record):
    """A file that a question names, as it was then. Its bytes are kept with the conversation, by their hash."""

    path: str
    """The absolute path, or the name of a pipe; of the change of a file, as `git:staged /path/of/main.py`."""
    sha256: str | None = None
    """The hash of what is kept: the file, or the lines of it that were named; absent if it was skipped."""
    bytes: int | None = None
    """The size of what is kept."""
    lines: str | None = None
    """The lines that were named, as `10-80`; absent for the whole file."""
    text: str | None = None
    """The hash of its text in UTF-8, if the bytes are something else; the text is kept, too."""
    pages: int | None = None
    """The number of pages of a PDF."""
    as_pdf: bool | None = None
    """Whether the PDF itself was sent, and not its text."""
    sent: SentAs
    """`whole`; `diff`: the changes since an earlier message; `known`: it stood in the request already; `skipped`."""
    changed_since: int | None = None
    """The number of the message with the version before this one, if there is one."""
    reason: str | None = None
    """Why it was skipped."""

    @property
    def is_change(self) -> bool:
        """Whether it is what git says of a change, rather than a file."""
        return self.path.startswith(("git ", "git:"))


class AttachedImage(Record):
    """An image that a question names, as it was then. Its bytes are kept with the conversation, by their hash."""

    path: str
    """The absolute path."""
    sha256: str | None = None
    """The hash of the file; absent if it was skipped before it was read."""
    bytes: int | None = None
    """The size of the file."""
    media_type: str | None = None
    """Such as `image/png`, by its bytes."""
    width: int | None = None
    """In pixels, as it was sent."""
    height: int | None = None
    """In pixels, as it was sent."""
    shown: str | None = None
    """The hash of the smaller image that was sent in its place, if it was shrunk; that is kept, too."""
    sent: SentAs
    """`whole`, `known` or `skipped`, as of a file."""
    reason: str | None = None
    """Why it was skipped."""


class NamesFiles(Protocol):
    """A question that may name files and images."""

    @property
    def files(self) -> tuple[AttachedFile, ...] | None:
        """The files that it names."""
        ...

    @property
    def images(self) -> tuple[AttachedImage, ...] | None:
        """The images that it names."""
        ...


def named_by(question: NamesFiles) -> tuple[AttachedFile | AttachedImage, ...]:
    """Return the files and images that a question names."""
    return (*(question.files or ()), *(question.images or ()))


def hashes_of(named: Iterable[AttachedFile | AttachedImage]) -> tuple[str, ...]:
    """Return the hashes of what is kept for these files and images, each once, in order."""
    hashes = ((one.sha256, one.text if isinstance(one, AttachedFile) else one.shown) for one in named)
    return tuple(dict.fromkeys(each for pair in hashes for each in pair if each is not None))
