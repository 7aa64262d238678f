"""Google's list of models, and the count of a request's tokens, which are older than interactions."""

from base64 import b64encode

from conversation_mcp.providers.base import ListedModel, Request
from conversation_mcp.providers.wire.json_values import JsonObject, count_at, items_at, objects_at, text_at
from conversation_mcp.providers.wire.parts import PDF
from conversation_mcp.providers.wire.roles import merged
from conversation_mcp.records.chat import ChatMessage
from conversation_mcp.text import storable

PREFIX = "models/"
ASKED_BY = ("generatecontent", "interaction")
ROLES = {"system": "user", "user": "user", "assistant": "model"}


def listed_models(body: JsonObject) -> list[ListedModel]:
    """Return the models of a list that can be asked; those that embed or draw are left out."""
    return [
        ListedModel(_name(model), _window_tokens(model), thinks=_thinks(model))
        for model in objects_at(body, "models")
        if _name(model) and _answers(model)
    ]


def _name(model: JsonObject) -> str:
    return text_at(model, "name").removeprefix(PREFIX).strip()


def _answers(model: JsonObject) -> bool:
    methods = [str(method).casefold() for method in items_at(model, "supportedGenerationMethods")]
    return not methods or any(way in method for method in methods for way in ASKED_BY)


def _window_tokens(model: JsonObject) -> int | None:
    window = count_at(model, "inputTokenLimit")
    return window if window is not None and window > 0 else None


def _thinks(model: JsonObject) -> bool | None:
    value = model.get("thinking")
    return value if isinstance(value, bool) else None


def counted_contents(request: Request) -> dict[str, object]:
    """Return the body of a count; it has no place for a system message, which begins the first question."""
    asked = [message._replace(role="user") if message.role == "system" else message for message in request.messages]
    return {"contents": [{"role": ROLES[message.role], "parts": _parts(message)} for message in merged(asked)]}


def _parts(message: ChatMessage) -> list[dict[str, object]]:
    media = [(PDF, pdf.data) for pdf in message.pdfs] + [(image.media_type, image.data) for image in message.images]
    parts: list[dict[str, object]] = [
        {"inlineData": {"mimeType": media_type, "data": b64encode(data).decode("ascii")}} for media_type, data in media
    ]
    return [*parts, {"text": storable(message.content)}]
