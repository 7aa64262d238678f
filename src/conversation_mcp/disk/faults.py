"""Translation of operating system errors into the errors that users see."""

import errno
from collections.abc import Generator
from contextlib import contextmanager
from os import PathLike

from conversation_mcp.errors import FilesystemError

REASONS = {
    errno.EACCES: "permission denied",
    errno.EDQUOT: "the disk quota is used up",
    errno.EIO: "the device reports an input/output error",
    errno.EISDIR: "is a directory, not a file",
    errno.ELOOP: "is a symbolic link, which is not followed",
    errno.EMFILE: "too many files are open",
    errno.ENOENT: "the folder is gone",
    errno.ENOSPC: "no space left on the device",
    errno.ENOTDIR: "a part of the path is not a folder",
    errno.ENXIO: "is not a regular file",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
}


@contextmanager
def explained(path: PathLike[str] | str, conversation_id: str | None = None) -> Generator[None]:
    """Raise an OSError of the block as a FilesystemError with the path and a reason in plain words."""
    try:
        yield
    except OSError as error:
        reason = reason_of(error)
        # A link that was refused may be a parent of the path; the error names the link.
        named = error.filename if error.errno == errno.ELOOP and error.filename else path
        raise FilesystemError(str(named), reason, conversation_id) from error


def reason_of(error: OSError) -> str:
    """Return in plain words why the operating system refused."""
    return REASONS.get(error.errno or 0) or error.strerror or str(error)
