"""The public keys of an identity provider: a JWKS in a file or at a URL, followed as it changes."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio
from anyio import to_thread

from conversation_mcp.disk.files import read_linked_file
from conversation_mcp.errors import InvalidInputError

if TYPE_CHECKING:
    import httpx

FRESH_SECONDS = 600.0
"""How long keys are used before they are looked up again, so that a withdrawn one does not stay."""
KEPT_SECONDS = 86_400.0
"""How long they are used while they cannot be looked up."""
AGAIN_SECONDS = 30.0
"""How often they are looked up at most, whatever keys tokens claim to be signed with."""
FETCH_SECONDS = 5.0
MAX_SET_BYTES = 512 * 1024
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
Jwk = Mapping[str, Any]

logger = logging.getLogger(__name__)


class KeySet:
    """The keys of one source, looked up when they are needed."""

    def __init__(
        self,
        source: str,
        *,
        transport: "httpx.AsyncBaseTransport | None" = None,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        """Use the file at a path, or the answer at an https URL.

        Raises:
            InvalidInputError: the URL is not safe against being read or changed on its way.
        """
        self._source = source
        self._is_url = "://" in source
        if self._is_url and not _is_safe(source):
            raise InvalidInputError(
                f"CONVERSATION_MCP_JWT_KEYS must be a path, or a URL that begins with https://; got {source!r}."
            )
        self._transport = transport
        self._seconds = seconds
        self._keys: tuple[Jwk, ...] = ()
        self._known_since: float | None = None
        self._tried_at: float | None = None
        self._looking = anyio.Lock()

    async def find(self, key_id: str | None) -> tuple[Jwk, ...]:
        """Return the keys of that id; without an id, the only key there is. None are returned if there is no such."""
        found = self._named(key_id)
        if self._is_due(found) and not (found and self._looking.locked()):
            async with self._looking:
                if self._is_due(self._named(key_id)):
                    await self._look()
            found = self._named(key_id)
        return found

    def _named(self, key_id: str | None) -> tuple[Jwk, ...]:
        if self._known_since is None or self._seconds() - self._known_since > KEPT_SECONDS:
            return ()
        if key_id is None:
            return self._keys if len(self._keys) == 1 else ()
        return tuple(key for key in self._keys if key.get("kid") == key_id)

    def _is_due(self, found: tuple[Jwk, ...]) -> bool:
        if self._tried_at is not None and self._seconds() - self._tried_at < AGAIN_SECONDS:
            return False
        return not found or self._known_since is None or self._seconds() - self._known_since >= FRESH_SECONDS

    async def _look(self) -> None:
        self._tried_at = self._seconds()
        try:
            text = await (self._fetched() if self._is_url else to_thread.run_sync(read_linked_file, Path(self._source)))
            self._keys = _keys_from(text)
        except Exception as error:  # noqa: BLE001 -- whatever it is, the keys that are known are used for a while
            logger.warning("the keys of tokens cannot be looked up: %s", str(error) or type(error).__name__)
        else:
            self._known_since = self._seconds()

    async def _fetched(self) -> bytes:
        import httpx

        with anyio.fail_after(FETCH_SECONDS):
            async with (
                httpx.AsyncClient(transport=self._transport, timeout=FETCH_SECONDS) as client,
                client.stream("GET", self._source, headers={"accept": "application/json"}) as response,
            ):
                if not response.is_success:
                    raise ValueError(f"the answer has status {response.status_code}")
                text = b""
                async for part in response.aiter_bytes():
                    text += part
                    if len(text) > MAX_SET_BYTES:
                        raise ValueError("the answer is too large")
                return text


def _keys_from(text: bytes) -> tuple[Jwk, ...]:
    """Return the public keys for signatures; keys that are secrets are left out, whatever they are for."""
    data: object = json.loads(text)
    keys: object = cast("dict[str, object]", data).get("keys") if isinstance(data, dict) else None
    objects = [cast("Jwk", key) for key in _list(keys) if isinstance(key, dict)]
    return tuple(key for key in objects if key.get("kty") in ("RSA", "EC", "OKP") and key.get("use", "sig") == "sig")


def _list(value: object) -> list[object]:
    if isinstance(value, list):
        return cast("list[object]", value)
    raise ValueError("it is not a JWKS")


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK_HOSTS)
