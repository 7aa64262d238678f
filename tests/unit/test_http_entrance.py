"""The entrance of a server over HTTP, as its settings want it."""

from pathlib import Path

import httpx
import pytest
from tests.fixtures.serving import settings_for
from tests.fixtures.signing import NOW

from conversation_mcp.access.token_file import TokenFile
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.server.http.entrance import is_locked, open_entrance

PROVIDER = {
    "jwt_keys": "https://id.example.com/keys",
    "jwt_issuer": "https://id.example.com",
    "jwt_audience": "https://mcp.example.com/mcp",
}
METADATA = "/.well-known/oauth-protected-resource/mcp"


def test_a_server_is_locked_by_a_file_of_tokens_even_with_none_left_or_by_an_identity_provider(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    open_to_all = settings_for(tmp_path, tokens_file=path)
    assert not is_locked(open_to_all)
    assert is_locked(settings_for(tmp_path, tokens_file=path, **PROVIDER))
    file = TokenFile(path)
    file.add("alice", NOW)
    file.revoke("alice")
    assert is_locked(open_to_all)


@pytest.mark.parametrize("missing", PROVIDER)
def test_an_identity_provider_that_is_set_by_halves_is_refused(tmp_path: Path, missing: str) -> None:
    given = {name: value for name, value in PROVIDER.items() if name != missing}
    with pytest.raises(InvalidInputError, match=f"CONVERSATION_MCP_{missing.upper()} is missing"):
        is_locked(settings_for(tmp_path, **given))


@pytest.mark.parametrize("algorithm", ["none", "HS256", "RS256,HS512"])
def test_signatures_that_anybody_could_make_cannot_be_set(tmp_path: Path, algorithm: str) -> None:
    with pytest.raises(ValueError, match="jwt_algorithms"):
        settings_for(tmp_path, jwt_algorithms=algorithm)


async def test_clients_are_told_where_to_get_a_token(tmp_path: Path) -> None:
    entrance = open_entrance(settings_for(tmp_path, tokens_file=tmp_path / "tokens.json", **PROVIDER))
    transport = httpx.ASGITransport(entrance.routes[METADATA])
    async with httpx.AsyncClient(transport=transport, base_url="https://mcp.example.com") as client:
        told = (await client.get(METADATA)).json()
    assert told["resource"] == "https://mcp.example.com/mcp"
    assert [url.rstrip("/") for url in told["authorization_servers"]] == ["https://id.example.com"]


def test_without_an_identity_provider_nothing_is_told(tmp_path: Path) -> None:
    assert open_entrance(settings_for(tmp_path, tokens_file=tmp_path / "tokens.json")).routes == {}
