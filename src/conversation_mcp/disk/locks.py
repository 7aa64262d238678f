"""Locks between processes: files in `.locks`, which are never replaced. The system releases those of dead processes."""

import errno
import os
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import PLAIN_FLAGS, claim_folder, create_private, refuse_link

HAS_SHARED_LOCKS = os.name == "posix"
PROBE_SECONDS = 0.002
PROBES = 500
"""How often a lock is tried that no process holds but others are probing."""
POLL_SECONDS = 0.003


class FileLock:
    """A held lock, which belongs to this object rather than to a thread or task."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def read(self, size: int) -> bytes:
        """Return up to so many bytes that its file begins with; a new one is empty."""
        return os.read(self._held(), size)

    def write(self, data: bytes) -> None:
        """Have the file begin with these bytes, for the next holder of the lock."""
        descriptor = self._held()
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, data)

    def release(self) -> None:
        """Release the lock; harmless if it was released before. Never waits."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            from filelock import unlock_descriptor

            try:
                unlock_descriptor(descriptor)
            finally:
                os.close(descriptor)

    def _held(self) -> int:
        if self._descriptor is None:
            raise RuntimeError("the lock was released")
        return self._descriptor


class LockFolder:
    """The `.locks` folder, created with the first lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def try_lock(self, name: str, before_creating: Callable[[], object]) -> FileLock | None:
        """Take the lock if it is free; no lock file is created if `before_creating` raises.

        Raises:
            FilesystemError: the lock file cannot be used.
        """
        path = self._folder / name
        with _explained(path):
            while True:
                descriptor = self._open(path, before_creating)
                try:
                    free = _try(descriptor)
                    removed = os.fstat(descriptor).st_nlink == 0  # so it excludes nobody any more
                except BaseException:
                    os.close(descriptor)
                    raise
                if free and not removed:
                    return FileLock(descriptor)
                os.close(descriptor)
                if not free:
                    return None

    @contextmanager
    def hold(self, name: str, before_creating: Callable[[], object], wait_seconds: float) -> Generator[FileLock]:
        """Hold the lock during the block, waiting for it up to `wait_seconds`; else like `try_lock`.

        Raises:
            FilesystemError: the lock file cannot be used, or was not free in time.
        """
        deadline = time.monotonic() + wait_seconds
        while (lock := self.try_lock(name, before_creating)) is None:
            if time.monotonic() >= deadline:
                with _explained(self._folder / name):
                    raise TimeoutError(errno.ETIMEDOUT, f"another program has held this lock for {wait_seconds:.0f} s")
            time.sleep(POLL_SECONDS)
        try:
            yield lock
        finally:
            lock.release()

    def is_locked(self, name: str) -> bool:
        """Tell whether any process holds the lock, without creating anything."""
        path = self._folder / name
        with _explained(path):
            try:
                descriptor = os.open(path, os.O_RDONLY | PLAIN_FLAGS)
            except FileNotFoundError:
                return False
            try:
                return not _is_free(descriptor)
            finally:
                os.close(descriptor)

    def remove(self, name: str) -> None:
        """Remove the lock file, unless the lock is held; a process that has opened it then opens a new one."""
        path = self._folder / name
        if path.exists() and (lock := self.try_lock(name, lambda: None)):
            try:
                with suppress(PermissionError):  # Windows keeps a file that is open
                    path.unlink()
            finally:
                lock.release()

    def _open(self, path: Path, before_creating: Callable[[], object]) -> int:
        refuse_link(self._folder)
        while True:
            with suppress(FileNotFoundError):
                return os.open(path, os.O_RDWR | PLAIN_FLAGS)
            before_creating()
            try:
                return create_private(path, os.O_RDWR)
            except FileExistsError:
                continue
            except FileNotFoundError:
                claim_folder(self._folder)


def _explained(path: Path) -> AbstractContextManager[None]:
    return explained(path, path.name.partition(".")[0])


def _try(descriptor: int) -> bool:
    """Try to take the lock, again and again while only probes of `is_locked` are in the way."""
    from filelock import lock_descriptor

    for _ in range(PROBES if HAS_SHARED_LOCKS else 2):
        if lock_descriptor(descriptor, blocking=False):
            return True
        if HAS_SHARED_LOCKS and not _is_free(descriptor):
            return False
        time.sleep(PROBE_SECONDS)
    return False


def _is_free(descriptor: int) -> bool:
    """Tell whether no process holds the lock. Probes use shared locks, and so do not disturb each other."""
    if not HAS_SHARED_LOCKS:
        return _try(descriptor)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True
