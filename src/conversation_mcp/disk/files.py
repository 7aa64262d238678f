"""Reading and writing of files, safe against crashes and planted links. All functions block."""

import errno
import os
import stat
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from conversation_mcp.clock import utc_now

FOLDER_MODE = 0o700
FILE_MODE = 0o600
MAX_FILE_BYTES = 64 * 1024 * 1024
"""A conversation is read into memory as a whole."""
PLAIN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Follow no link, wait for no pipe, and leave line ends alone on Windows."""
NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP})
NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
SHARING_WINERRORS = frozenset({5, 32, 33})
"""Access denied, sharing violation, lock violation: how Windows refuses while another program has the file open."""
HAS_DRAFT_LOCKS = os.name == "posix"
DEAD_AFTER_SECONDS = 3600
"""The age at which a draft counts as dead where drafts cannot be locked."""
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 0.8)


def refuse_link(path: Path) -> None:
    """Raise ELOOP if the path is a symbolic link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def open_regular(path: str, flags: int) -> int:
    """Open a regular file of limited size, never through a link and without waiting for a pipe. Serves as an `opener`.

    Raises:
        OSError: with EISDIR, ELOOP, ENXIO or EFBIG, among others.
    """
    refuse_link(Path(path).parent)
    return _open_in_folder(path, flags)


def read_file(path: Path) -> bytes:
    """Return the content of a regular file. Raises the errors of `open_regular`."""
    refuse_link(path.parent)
    with open(path, "rb", buffering=0, opener=_open_in_folder) as file:
        return file.readall()


def _open_in_folder(path: str, flags: int) -> int:
    descriptor = os.open(path, flags | PLAIN_FLAGS)
    if objection := _objection(os.fstat(descriptor)):
        os.close(descriptor)
        raise OSError(objection, os.strerror(objection), path)
    return descriptor


def read_linked_file(path: Path) -> bytes:
    """Return the content of a file that may be a link, as a user's own file often is."""
    return read_file(Path(os.path.realpath(path)))


def create_private(path: Path, flags: int) -> int:
    """Create and open a file that only its owner can access, whatever the umask."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | PLAIN_FLAGS, FILE_MODE)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


def claim_folder(folder: Path) -> bool:
    """Create a folder that only its owner can access, whatever the umask; return False if the name is taken."""
    try:
        folder.mkdir(FOLDER_MODE)
    except FileExistsError:
        return False
    folder.chmod(FOLDER_MODE)
    return True


def make_private_folder(folder: Path) -> None:
    """Create the folder and its missing parents, which only their owner can access."""
    if not folder.is_dir():
        make_private_folder(folder.parent)
        claim_folder(folder)


def replace_file(path: Path, data: bytes, *, is_durable: bool = True) -> None:
    """Replace the content of a file; readers see the old bytes or the new ones, and a failure keeps the old ones.

    If `is_durable`, the new content also survives a crash of the machine from here on.
    """
    replace_by_pieces(path, (data,), is_durable=is_durable)


def replace_by_pieces(path: Path, pieces: Iterable[bytes], *, is_durable: bool = True) -> None:
    """Replace the content of a file with pieces that need not fit in memory; an error of the iterable is a failure."""
    _replace(path, pieces, is_durable=is_durable)
    if is_durable:
        sync_folder(path.parent)


def replace_files(folder: Path, contents: Mapping[str, bytes], *, is_durable: bool = True) -> None:
    """Replace the contents of files in a folder one by one, as `replace_file`; a failure keeps those done before it."""
    for name, data in contents.items():
        _replace(folder / name, (data,), is_durable=is_durable)
    if is_durable:
        sync_folder(folder)


def _replace(path: Path, pieces: Iterable[bytes], *, is_durable: bool) -> None:
    """Replace the content of a file; its name is durable only once its folder is synchronized."""
    draft, descriptor = _open_draft(path)
    try:
        try:
            for data in pieces:
                left = memoryview(data)
                while left:
                    left = left[os.write(descriptor, left) :]
            if is_durable:  # before the rename: after a crash the name must not stand for a file without content
                os.fsync(descriptor)
            if HAS_DRAFT_LOCKS:
                patiently(lambda: draft.replace(path))
        finally:
            os.close(descriptor)
        if not HAS_DRAFT_LOCKS:  # Windows does not rename open files; elsewhere the descriptor's lock guards the draft
            patiently(lambda: draft.replace(path))
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


@contextmanager
def new_file(path: Path) -> Generator[BinaryIO]:
    """Yield a file to fill, which then appears at the path, whole and durable; what is there is never replaced.

    Raises:
        FileExistsError: something is at the path, even if it came while the block ran.
    """
    draft, descriptor = _open_draft(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
            if HAS_DRAFT_LOCKS:
                _put_new(draft, path)
        if not HAS_DRAFT_LOCKS:
            patiently(lambda: draft.rename(path))  # which Windows refuses if there is anything
    finally:
        with suppress(OSError):
            draft.unlink()
    sync_folder(path.parent)


def _put_new(draft: Path, path: Path) -> None:
    try:
        os.link(draft, path)
    except OSError as error:
        if error.errno not in NO_HARD_LINKS:
            raise
        os.close(create_private(path, os.O_WRONLY))
        draft.replace(path)


def patiently(step: Callable[[], object], sleep: Callable[[float], object] = time.sleep) -> None:
    """Do the step, and repeat it for about two seconds while Windows refuses it because the file is open elsewhere."""
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
    """Make the names in a folder durable, if the system can."""
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


def remove_dead_drafts(folder: Path) -> bool:
    """Remove the drafts of killed writes, not those of live processes; return whether any of them held something."""
    found = False
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(".") and entry.name.endswith(".tmp"):
                with suppress(OSError):
                    found = _remove_if_dead(Path(entry)) or found
    return found


def _open_draft(path: Path) -> tuple[Path, int]:
    """Create a draft of the file, locked while its writer lives, if the system has such locks."""
    while True:
        draft = path.with_name(f".{path.stem}.{token_hex(8)}.tmp")
        descriptor = create_private(draft, os.O_WRONLY)
        if not _lock(descriptor, "LOCK_EX") or os.fstat(descriptor).st_nlink:
            return draft, descriptor
        os.close(descriptor)  # it was removed as dead before it was locked


def _remove_if_dead(draft: Path) -> bool:
    if not HAS_DRAFT_LOCKS:
        is_old = utc_now().timestamp() - draft.lstat().st_mtime > DEAD_AFTER_SECONDS
        return is_old and draft.unlink() is None
    descriptor = os.open(draft, os.O_WRONLY | PLAIN_FLAGS)
    try:
        if not _lock(descriptor, "LOCK_EX", "LOCK_NB"):
            return False
        # An empty one may be so young that its writer has not locked it yet. That writer makes another.
        was_begun = os.fstat(descriptor).st_size > 0
        draft.unlink()
        return was_begun
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *flags: str) -> bool:
    """Lock the file; return False if another process has locked it or the system has no such locks."""
    if not HAS_DRAFT_LOCKS:
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, sum(getattr(fcntl, flag) for flag in flags))
    except OSError:
        return False
    return True


def _objection(found: os.stat_result) -> int:
    if stat.S_ISDIR(found.st_mode):
        return errno.EISDIR
    if not stat.S_ISREG(found.st_mode):
        return errno.ENXIO
    return errno.EFBIG if found.st_size > MAX_FILE_BYTES else 0


def home_folder() -> Path | None:
    """Return the home folder of the account; None if it has none."""
    try:
        return Path.home()
    except RuntimeError:
        return None
