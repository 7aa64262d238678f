"""PDFs in front of servers that enforce the rules of their wire."""

from contextlib import AbstractAsyncContextManager

import pytest
from tests.fixtures.asked import answer_of
from tests.fixtures.contract import Peer, peer_of
from tests.fixtures.office import pdf_of

from conversation_mcp.errors import ProviderRejectedError
from conversation_mcp.providers.base import Request
from conversation_mcp.providers.definitions import load_definitions
from conversation_mcp.records.chat import ChatMessage, PdfPart


def peer_at(name: str) -> AbstractAsyncContextManager[Peer]:
    return peer_of(load_definitions()[name])


def asking(data: bytes) -> Request:
    return Request("chat", (ChatMessage("user", "What is it?", pdfs=(PdfPart(data),)),), "", "small-1")


@pytest.mark.parametrize("name", ["anthropic", "gemini"])
async def test_a_pdf_is_taken_in_the_form_of_the_wire_and_what_is_none_is_refused(name: str) -> None:
    data = pdf_of("Trees have leaves")
    async with peer_at(name) as peer:
        answer = answer_of([event async for event in peer.provider.ask(asking(data))])
        with pytest.raises(ProviderRejectedError, match="not a valid PDF"):
            [event async for event in peer.provider.ask(asking(b"no pdf"))]
    assert f"[a pdf of {len(data)} bytes]" in answer.content
