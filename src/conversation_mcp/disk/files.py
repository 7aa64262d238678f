"""Reading and writing files so that neither a crash nor a planted name can do harm. All of it blocks."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

FOLDER_MODE = 0o700
FILE_MODE = 0o600
MAX_FILE_BYTES = 64 * 1024 * 1024
PLAIN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP})
SHARING_WINERRORS = frozenset({5, 32, 33})
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 0.8)


def refuse_link(path: Path) -> None:
    """Raise ELOOP when the path is a symbolic link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def open_regular(path: str, flags: int) -> int:
    """Open a regular file of bearable size, never through a link and never waiting for a pipe. Fits as an `opener`.

    Raises:
        OSError: with EISDIR, ELOOP, ENXIO or EFBIG, among others.
    """
    refuse_link(Path(path).parent)
    descriptor = os.open(path, flags | PLAIN_FLAGS)
    if objection := _objection(os.fstat(descriptor)):
        os.close(descriptor)
        raise OSError(objection, os.strerror(objection), path)
    return descriptor


def read_file(path: Path) -> bytes:
    """Return what a regular file holds; raises as `open_regular`."""
    with open(path, "rb", buffering=0, opener=open_regular) as file:
        return file.readall()


def read_linked_file(path: Path) -> bytes:
    """Do the same with a file that the user may have put elsewhere, behind a link."""
    return read_file(Path(os.path.realpath(path)))


def create_private(path: Path, flags: int) -> int:
    """Open a file that did not exist, for its owner alone whatever the umask."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | PLAIN_FLAGS, FILE_MODE)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


def claim_folder(folder: Path) -> bool:
    """Make the folder, for its owner alone whatever the umask; False when the name is taken."""
    try:
        folder.mkdir(FOLDER_MODE)
    except FileExistsError:
        return False
    folder.chmod(FOLDER_MODE)
    return True


def make_private_folder(folder: Path) -> None:
    """Make the folder and its missing parents, each for its owner alone."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        claim_folder(folder)


def replace_file(path: Path, data: bytes) -> None:
    """Give the file new content, durably; a reader sees the old bytes or the new ones, and a failure leaves the old."""
    replace_by_pieces(path, (data,))


def replace_by_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Do the same with content that need not be in memory at once; an error of the pieces is a failure too."""
    draft = path.with_name(f".{path.stem}.{token_hex(8)}.tmp")
    descriptor = create_private(draft, os.O_WRONLY)
    try:
        try:
            for data in pieces:
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        patiently(lambda: draft.replace(path))
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    sync_folder(path.parent)


def patiently(step: Callable[[], object], sleep: Callable[[float], object] = time.sleep) -> None:
    """Do the step, again for a while if Windows refuses it because somebody is looking at the file."""
    for pause_seconds in RETRY_SECONDS:
        try:
            step()
        except PermissionError as error:
            if getattr(error, "winerror", None) not in SHARING_WINERRORS:
                raise
            sleep(pause_seconds)
        else:
            return
    step()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def remove_stray_drafts(path: Path, older_than: float) -> None:
    """Remove what crashed writes of the file left behind, if it is older than the time stamp."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            stray = entry.name.startswith(f".{path.stem}.") and entry.name.endswith(".tmp")
            if stray and entry.stat(follow_symlinks=False).st_mtime < older_than:
                Path(entry).unlink()


def _objection(found: os.stat_result) -> int:
    if stat.S_ISDIR(found.st_mode):
        return errno.EISDIR
    if not stat.S_ISREG(found.st_mode):
        return errno.ENXIO
    return errno.EFBIG if found.st_size > MAX_FILE_BYTES else 0
