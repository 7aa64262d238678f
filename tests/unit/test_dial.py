"""DIAL: a gateway with a path for each deployment, and answers with attachments."""

import pytest
from tests.fixtures.chat_client import chatting
from tests.fixtures.families import configured

from conversation_mcp.errors import ProviderRejectedError
from conversation_mcp.providers.sides import is_service
from conversation_mcp.records.chat import ChatMessage

VERSION = "2024-10-21"
BEFORE = (ChatMessage("system", "Be short."),)


async def test_a_deployment_is_asked_at_its_own_path_with_the_version_that_is_set() -> None:
    async with chatting("dial", api_version=VERSION) as peer:
        answer = await peer.answer("Why?", *BEFORE)
        assert answer.content.startswith("answer 1 to:")
        assert peer.server.headers[-1]["Api-Key"]
        assert peer.server.addresses == [f"/openai/deployments/small-1/chat/completions?api-version={VERSION}"]
        # The list says that this deployment takes no system message.
        [message] = peer.server.requests[-1]["messages"]
        assert message == {"role": "user", "content": "Be short.\n\nWhy?"}
        assert [model.id for model in await peer.provider.list_models()] == ["small-1", "large-1"]


async def test_no_version_is_sent_unless_it_is_set_and_an_unknown_deployment_is_an_error() -> None:
    async with chatting("dial") as peer:
        await peer.answer("Why?")
        with pytest.raises(ProviderRejectedError, match="nothing at this address"):
            await peer.answer("Why?", model="team/large 1")
        assert peer.server.addresses == [
            "/openai/deployments/small-1/chat/completions",
            "/openai/deployments/team%2Flarge%201/chat/completions",
        ]


async def test_attachments_with_an_address_are_sources_and_others_are_named() -> None:
    async with chatting("dial", api_version=VERSION) as peer:
        answer = await peer.answer("Why? [[fault:custom_content]]")
    assert [(source.id, source.title, source.url, source.snippet) for source in answer.sources] == [
        (1, "Page 2", "https://example.org/2", "Of 1."),
        (2, "Page 1", "https://example.org/1", "Of 0."),
    ]
    assert answer.notices == (
        "The answer came with 1 attachment, not kept here.",
        "The application keeps a state, which is not sent back to it: it will know only the text of the conversation.",
    )


@pytest.mark.parametrize(
    ("address", "version", "asked"),
    [
        ("https://dial.example", None, "https://dial.example/openai/deployments"),
        ("https://dial.example/", "1 2", "https://dial.example/openai/deployments?api-version=1+2"),
        ("https://dial.example/gw?a=b", "1", "https://dial.example/gw/openai/deployments?a=b&api-version=1"),
    ],
)
def test_the_version_is_in_the_address_only_if_it_is_set(address: str, version: str | None, asked: str) -> None:
    assert configured("dial", address, "k" * 20, api_version=version).url("openai/deployments") == asked


def test_words_for_a_gateway_leave_this_machine_whatever_its_address() -> None:
    assert is_service("dial")
