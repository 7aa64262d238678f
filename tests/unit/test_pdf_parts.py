"""PDFs on the wires that have a place for them."""

from typing import Any, cast

import pytest
from pydantic import ValidationError

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import Given, load_definitions, resolved
from conversation_mcp.providers.interactions.models import counted_contents
from conversation_mcp.providers.pdfs import Pdfs
from conversation_mcp.providers.wire.parts import PartForm
from conversation_mcp.providers.wire.roles import merged
from conversation_mcp.records.chat import ChatMessage, ImagePart, PdfPart

ASKED = ChatMessage("user", "Why?", (ImagePart("image/png", b"i"),), (PdfPart(b"p"),))


def test_each_wire_has_its_own_form_and_the_pdf_comes_before_the_text() -> None:
    document, image, text = cast("list[dict[str, object]]", PartForm("messages").content([ASKED]))
    source = {"type": "base64", "media_type": "application/pdf", "data": "cA=="}
    assert document == {"type": "document", "source": source}
    assert (image["type"], text) == ("image", {"type": "text", "text": "Why?"})
    document = PartForm("interactions").content([ASKED])[0]
    assert document == {"type": "document", "data": "cA==", "mime_type": "application/pdf"}
    [counted] = cast("list[dict[str, Any]]", counted_contents(Request("chat", (ASKED,), ""))["contents"])
    assert counted["parts"][0] == {"inlineData": {"mimeType": "application/pdf", "data": "cA=="}}
    assert merged([ASKED, ASKED])[0].pdfs == ASKED.pdfs * 2


@pytest.mark.parametrize(("window", "pages"), [(None, 100), (200_000, 100), (1_000_000, 600)])
def test_models_with_a_small_or_unknown_window_take_fewer_pages(window: int | None, pages: int) -> None:
    assert load_definitions()["anthropic"].pdfs.pages_at(window) == pages


def test_a_provider_whose_wire_has_no_place_for_pdfs_cannot_accept_them() -> None:
    with pytest.raises(InvalidInputError, match="accepted needs family"):
        load_definitions({"mistral": {"pdfs": {"accepted": True}}})
    compatible = resolved(
        load_definitions({"gemini": {"key_variables": []}})["gemini"], Given(base_url="https://gateway.example/openai")
    )
    assert compatible
    assert not compatible.definition.pdfs.accepted
    with pytest.raises(ValidationError):
        Pdfs(max_pages=0)
