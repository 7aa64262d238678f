"""The file of tokens. All methods block."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from conversation_mcp.access.tokens import IssuedToken, TokenList, hash_of, new_token
from conversation_mcp.disk.faults import explained
from conversation_mcp.disk.files import make_private_folder, read_linked_file, replace_file
from conversation_mcp.disk.locks import LockFolder
from conversation_mcp.errors import FilesystemError
from conversation_mcp.sources import config_path

LOCK_NAME = "tokens.lock"
LOCK_SECONDS = 10.0

FileStamp = tuple[int, int, int]
"""Differs between states of a file."""


def default_tokens_path() -> Path:
    """Return where the tokens are if no setting says otherwise."""
    return config_path().parent / "tokens.json"


class TokenFile:
    """Tokens in a file that only its owner can access. Changes by several processes do not undo each other."""

    def __init__(self, path: Path) -> None:
        """Use the file at this path, or the one to which it links; it need not exist."""
        self._path = path

    @property
    def exists(self) -> bool:
        """Whether there is a file. From then on a server wants a token with each request."""
        return os.path.lexists(self._path)

    def stamp(self) -> FileStamp | None:
        """Return what changes with each write; None if there is no file."""
        with explained(self._path):
            try:
                found = self._path.stat()
            except FileNotFoundError:
                return None
        return found.st_mtime_ns, found.st_ino, found.st_size

    def read(self) -> tuple[IssuedToken, ...]:
        """Return the tokens, none if there is no file.

        Raises:
            FilesystemError: the file cannot be read, or is not one of tokens.
        """
        try:
            with explained(self._path):
                text = read_linked_file(self._path)
            return TokenList.model_validate_json(text).tokens
        except FilesystemError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return ()
            raise
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, problem["loc"])) or "the text"
            raise FilesystemError(str(self._path), f"is not a file of tokens ({where}: {problem['msg']})") from None

    def add(
        self, owner: str, now: datetime, *, expires_at: datetime | None = None, may_act_for: tuple[str, ...] = ()
    ) -> tuple[str, IssuedToken]:
        """Make a token and keep its hash; return both. The token itself is not kept anywhere."""
        token = new_token()
        issued = IssuedToken(
            hash=hash_of(token), owner=owner, created_at=now, expires_at=expires_at, may_act_for=may_act_for
        )
        with self._changing() as change:
            change(lambda tokens: (*tokens, issued))
        return token, issued

    def revoke(self, name: str) -> tuple[IssuedToken, ...]:
        """Remove the token of that id, or all tokens of the owner of that name; return those removed."""
        removed: list[IssuedToken] = []

        def without(tokens: tuple[IssuedToken, ...]) -> tuple[IssuedToken, ...]:
            removed.extend(each for each in tokens if name in (each.token_id, each.owner))
            return tuple(each for each in tokens if each not in removed)

        with self._changing() as change:
            change(without)
        return tuple(removed)

    @contextmanager
    def _changing(
        self,
    ) -> Generator[Callable[[Callable[[tuple[IssuedToken, ...]], tuple[IssuedToken, ...]]], None]]:
        """Yield what replaces the tokens, while no other process can."""
        path = Path(os.path.realpath(self._path))
        folder = path.parent
        with explained(folder):
            make_private_folder(folder)

        def change(of: Callable[[tuple[IssuedToken, ...]], tuple[IssuedToken, ...]]) -> None:
            before = self.read()
            after = of(before)
            if after != before:
                text = TokenList(tokens=after).model_dump_json(by_alias=True, exclude_defaults=True, indent=2)
                with explained(self._path):
                    replace_file(path, f"{text}\n".encode())

        with LockFolder(folder / ".locks").hold(LOCK_NAME, lambda: None, LOCK_SECONDS):
            yield change
