"""The problems that servers report in place of an answer, in all their forms, reduced to what matters."""

import re
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from conversation_mcp.logs import redact
from conversation_mcp.providers.wire.bodies import UnreadableBodyError, decoded
from conversation_mcp.providers.wire.http import retry_after_seconds
from conversation_mcp.providers.wire.json_values import (
    MARKUP,
    NOTHING,
    JsonObject,
    count_at,
    items_at,
    object_at,
    parse_first_object,
    plain_text,
    text_at,
)
from conversation_mcp.providers.wire.overflow import Overflow, overflow_in
from conversation_mcp.text import shorten

if TYPE_CHECKING:
    import httpx

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
        ("rate_?limit|too_?many_requests|resource_?exhausted|quota_?exceeded", 429),
        ("overloaded|unavailable", 503),
        ("invalid|bad_?request|unsupported|not_supported|validation|out_?of_?range", 400),
        ("parameter_unknown|failed_precondition", 400),
    )
)
"""The status that the name of an error means, if no number says it; the first match counts."""
ANSWERS = frozenset({"choices", "output", "response", "data", "delta"})
INNER = ("error", "errors", "detail", "message", "fault", "base_resp")
"""Fields that hold an error, or an error within another."""
TOLD = ("error_message", "error_msg", "errorMessage", "err", "exception", "Message", "faultstring", "status_msg")
SAYINGS = ("message", "msg", "error", "errors", "detail", "description", *TOLD)
TELLING = ("message", "msg", "errors", "detail", "fault", "base_resp", *TOLD)
"""Fields that report a problem if nothing is called an error."""
LASTING = re.compile(r"\blimit: 0\b|per[ _]?day", re.IGNORECASE)
RETRY_IN = re.compile(r"\bretry in ([0-9]{1,6}(?:\.[0-9]{1,9})?) ?s")
MAX_LAYERS = 4
MAX_CAUSE_CHARS = 200
MAX_ERROR_BYTES = 64 * 1024


@dataclass(frozen=True)
class WireProblem:
    """A response that is not a success, reduced to what matters; `kind` is its type, and its code if that is a word."""

    status: int
    kind: str = ""
    param: str = ""
    cause: str = ""
    retry_after_seconds: float | None = None
    is_lasting: bool = False
    """Whether waiting does not help against a rate limit: it is zero, or that of a day."""
    overflow: Overflow | None = None
    """The sizes, if the problem is a conversation that is too long."""

    def names(self, field: str) -> bool:
        """Tell whether the request was refused because of this field."""
        return self.status in {BAD_REQUEST, UNPROCESSABLE} and field in f"{self.param} {self.cause}"


async def read_problem(response: "httpx.Response", secret: str) -> WireProblem:
    """Read the start of an error's body, without the secret; if it cannot be read, the problem has no cause."""
    import httpx

    data = bytearray()
    with suppress(httpx.HTTPError, UnreadableBodyError):
        async with aclosing(decoded(response, MAX_ERROR_BYTES)) as pieces:
            async for piece in pieces:
                data += piece
    body = parse_first_object(bytes(data)) or {"message": plain_text(bytes(data))}
    return _problem(body, response.status_code, retry_after_seconds(response.headers), secret)


def problem_in(body: JsonObject, status: int = OK, secret: str = "") -> WireProblem | None:
    """Return the problem that JSON reports, even with a status of success; None if it reports none.

    With a status of success, the problem gets the status that the error itself names, by a number or a word; without
    one it keeps the success.
    """
    if not _tells_problem(body):
        return None
    if status == OK:
        status = _own_status(body)
    return _problem(body, status, None, secret)


def short_cause(body: JsonObject, secret: str = "") -> str:
    """Return the reason in a provider's JSON as one short line without keys and markup; may be empty."""
    text = _said(body)
    if MARKUP.search(text):  # the error page of a proxy, which names no reason
        return ""
    if secret:
        text = text.replace(secret, "[redacted]")
    plain = "".join(char if char.isprintable() else " " for char in text)
    return shorten(redact(plain), MAX_CAUSE_CHARS).rstrip(". ")


def _problem(body: JsonObject, status: int, retry_seconds: float | None, secret: str) -> WireProblem:
    error = _error_in(body)
    words = (text_at(error, "type"), text_at(error, "code"), text_at(error, "status"))
    kind = " ".join(word for word in words if word and not word.isdecimal())
    said = _said(body)
    in_words = RETRY_IN.search(said)
    return WireProblem(
        status=status,
        kind=kind,
        param=text_at(error, "param") or _place(error),
        cause=short_cause(body, secret),
        retry_after_seconds=float(in_words[1]) if in_words and retry_seconds is None else retry_seconds,
        is_lasting=LASTING.search(said) is not None,
        overflow=overflow_in(error, kind, said),
    )


def _tells_problem(body: JsonObject) -> bool:
    # Checked before it counts as an answer: a gateway may put an error beside an empty `choices`.
    if body.get("error") or "error" in (body.get("object"), body.get("type")):
        return True
    is_answer = "type" in body or any(body.get(name) is not None for name in ANSWERS)
    return not is_answer and any(text_at(body, name) or _inner(body.get(name)) for name in TELLING)


def _layers(body: JsonObject) -> list[JsonObject]:
    """Return the body and the errors in it, each within the one before: an object, a list of them, or JSON as text."""
    layers = [body]
    while len(layers) < MAX_LAYERS:
        inner = next(filter(None, (_inner(layers[-1].get(name)) for name in INNER)), NOTHING)
        if not inner:
            break
        layers.append(inner)
    return layers


def _inner(value: object) -> JsonObject:
    if isinstance(value, list):
        items = cast("list[object]", value)
        are_objects = [isinstance(item, dict) for item in items]
        value = items[are_objects.index(True) if any(are_objects) else 0] if items else None
        if isinstance(value, str):
            return {"message": value}
    if isinstance(value, str):
        return (parse_first_object(value) if value.lstrip().startswith(("{", "[")) else None) or NOTHING
    return cast("JsonObject", value) if isinstance(value, dict) else NOTHING


def _error_in(body: JsonObject) -> JsonObject:
    """Return the fields of the error; an inner error fills the gaps of the outer one."""
    merged: dict[str, object] = {}
    for layer in reversed(_layers(body)[1:] or [body]):
        merged.update({name: value for name, value in layer.items() if value is not None})
    return merged


def _own_status(body: JsonObject) -> int:
    error = _error_in(body)
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
    """Return the reason in the error's words; a gateway's reason is followed by that of the server behind it."""
    error, layers = _error_in(body), _layers(body)
    kinds = (text_at(error, "code"), text_at(error, "type"))
    text = next(filter(str.strip, (*map(_saying, (*layers[1:], body)), *kinds)), "")
    raw = text_at(object_at(error, "metadata"), "raw")
    behind = _said(parsed) if (parsed := parse_first_object(raw)) else raw
    return f"{text.rstrip('. ')}: {behind}" if behind.strip() and not MARKUP.search(behind) else text


def _saying(error: JsonObject) -> str:
    texts = (text_at(error, name) for name in SAYINGS if not _inner(error.get(name)))
    return ": ".join(filter(None, [_place(error), next(filter(str.strip, texts), "")]))


def _place(error: JsonObject) -> str:
    """Return the path of the field in a framework's validation error, with dots."""
    return ".".join(str(part) for part in items_at(error, "loc") if part != "body")
