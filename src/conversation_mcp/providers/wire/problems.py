"""What servers say instead of an answer, wherever they put it, reduced to what decides."""

import re
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conversation_mcp.logs import redact
from conversation_mcp.providers.http import retry_after_seconds
from conversation_mcp.providers.wire.bodies import UnreadableBodyError, decoded
from conversation_mcp.providers.wire.overflow import Overflow, overflow_in
from conversation_mcp.providers.wire.reading import (
    JsonObject,
    count_at,
    items_at,
    object_at,
    objects_at,
    parse_first_object,
    parse_object,
    text_at,
)
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    import httpx

MARKUP = re.compile(r"<[a-z!/?]", re.IGNORECASE)
NO_SUCH_ENDPOINT = re.compile("unexpected endpoint", re.IGNORECASE)
OK, BAD_REQUEST, PAYMENT_REQUIRED, NOT_FOUND, GONE, UNPROCESSABLE, SERVER_ERROR = 200, 400, 402, 404, 410, 422, 500
STATUSES = range(400, 600)
STATUS_OF_KIND = tuple(
    (re.compile(words, re.IGNORECASE), status)
    for words, status in (
        ("unauthori[sz]ed|unauthenticated|authentication|(?:invalid|incorrect|missing)_api_key", 401),
        ("insufficient_quota|payment|billing|out_of_credit", 402),
        ("permission|forbidden", 403),
        ("not_?found|unknown_model", 404),
        ("rate_?limit|too_?many_requests|resource_?exhausted", 429),
        ("overloaded|unavailable", 503),
        ("invalid|bad_?request|unsupported|not_supported|validation|out_?of_?range", 400),
    )
)
"""What the word for an error means where no number says it; the first counts."""
ANSWERS = frozenset({"choices", "output", "response", "data", "delta"})
MAX_CAUSE_CHARS = 200
MAX_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True)
class Problem:
    """A response that is no success, reduced to what decides; `kind` is its type and its code where that is a word."""

    status: int
    kind: str = ""
    param: str = ""
    cause: str = ""
    retry_after_seconds: float | None = None
    overflow: Overflow | None = None
    """What it says of a conversation that is too long, if it is about that."""

    def names(self, field: str) -> bool:
        """Tell whether the request was refused because of this field."""
        return self.status in {BAD_REQUEST, UNPROCESSABLE} and field in f"{self.param} {self.cause}"


async def read_problem(response: "httpx.Response", secret: str) -> Problem:
    """Read the start of the body of an error, without the secret; one that cannot be read has no cause."""
    import httpx  # noqa: PLC0415 -- costs start-up time

    data = bytearray()
    with suppress(httpx.HTTPError, UnreadableBodyError):
        async with aclosing(decoded(response, MAX_ERROR_BYTES)) as pieces:
            async for piece in pieces:
                data += piece
    body = parse_first_object(bytes(data)) or {}
    return _problem(body, response.status_code, retry_after_seconds(response.headers), secret)


def problem_in(body: JsonObject, status: int = OK, secret: str = "") -> Problem | None:
    """Return the problem that JSON tells of, also under a status that says success; None when it tells of none.

    Where the status says success, the problem has the number that the error itself gives, by a number or a word, or
    none that is one.
    """
    if not _tells_problem(body):
        return None
    if status == OK:
        status = _own_status(_error_in(body), body)
    return _problem(body, status, None, secret)


def short_cause(body: JsonObject, secret: str = "") -> str:
    """Return the reason that a provider's JSON gives, as one short line without keys and markup; may be empty."""
    text = _said(body)
    if MARKUP.search(text):
        return ""
    if secret:
        text = text.replace(secret, "[redacted]")
    plain = "".join(char if char.isprintable() else " " for char in text)
    return shorten(redact(plain), MAX_CAUSE_CHARS).rstrip(". ")


def _problem(body: JsonObject, status: int, retry_seconds: float | None, secret: str) -> Problem:
    error = _error_in(body)
    words = (text_at(error, "type"), text_at(error, "code"), text_at(error, "status"))
    kind = " ".join(word for word in words if word and not word.isdecimal())
    return Problem(
        status=status,
        kind=kind,
        param=text_at(error, "param") or next((place for place, _ in _details(body)), ""),
        cause=short_cause(body, secret),
        retry_after_seconds=retry_seconds,
        overflow=overflow_in(error, kind, _said(body)),
    )


def _tells_problem(body: JsonObject) -> bool:
    if body.get("error") or "error" in (body.get("object"), body.get("type")):
        return True
    is_answer = "type" in body or bool(ANSWERS.intersection(body))
    return not is_answer and bool(body.get("detail") or text_at(body, "message"))


def _error_in(body: JsonObject) -> JsonObject:
    return object_at(body, "error") or body


def _own_status(error: JsonObject, body: JsonObject) -> int:
    for part in (error, body):
        for name in ("code", "status", "status_code", "statusCode"):
            text = text_at(part, name)
            code = int(text) if text.isdecimal() and len(text) == len("400") else count_at(part, name)
            if code is not None and code in STATUSES:
                return code
    if NO_SUCH_ENDPOINT.search(text_at(body, "error")):
        return NOT_FOUND
    words = f"{text_at(error, 'code')} {text_at(error, 'type')} {text_at(error, 'status')}"
    return next((status for kind, status in STATUS_OF_KIND if kind.search(words)), OK)


def _said(body: JsonObject) -> str:
    """Return the reason as it is said; that of the server behind a gateway is added to the gateway's own."""
    error = object_at(body, "error")
    listed = [": ".join(part for part in detail if part) for detail in _details(body)]
    texts = (
        *(text_at(error, "message"), text_at(body, "error")),
        *listed,
        *(text_at(body, "message"), text_at(body, "detail"), text_at(error, "detail")),
        *(text_at(error, "code"), text_at(error, "type")),
    )
    text = next((text for text in texts if text.strip()), "")
    raw = text_at(object_at(error, "metadata"), "raw")
    behind = _said(parsed) if (parsed := parse_first_object(raw)) else raw
    return f"{text.rstrip('. ')}: {behind}" if behind.strip() and not MARKUP.search(behind) else text


def _details(body: JsonObject) -> list[tuple[str, str]]:
    """Return field and complaint of each error of a framework that lists them, dotted and as it says it."""
    nested = object_at(body, "message") or parse_object(text_at(body, "message")) or {}
    found = objects_at(body, "detail") or objects_at(nested, "detail")
    return [
        (".".join(str(part) for part in items_at(detail, "loc") if part != "body"), text_at(detail, "msg"))
        for detail in found
    ]
