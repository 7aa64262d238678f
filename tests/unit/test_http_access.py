"""Who gets into a server over HTTP, by the headers of a request."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import httpx
import pytest
from anyio import to_thread
from tests.fixtures.signing import AUDIENCE, ISSUER, NOW, SigningKey, claims_for, key_set

from conversation_mcp.access.attempts import FREE_ATTEMPTS, MOST_ADDRESSES, WINDOW_SECONDS, FailedAttempts
from conversation_mcp.access.jwts import JwtRules, JwtVerifier
from conversation_mcp.access.key_sets import KeySet
from conversation_mcp.access.live_tokens import LiveTokens
from conversation_mcp.access.token_file import TokenFile
from conversation_mcp.access.tokens import new_token
from conversation_mcp.server.http.access import Access, Challenge
from conversation_mcp.server.http.callers import Denial, Identity

KEY = SigningKey("one")
ADDRESS = "192.0.2.1"


class Door:
    """The entrance of a server with its file of tokens, and two clocks."""

    def __init__(self, folder: Path, **options: object) -> None:
        self.file = TokenFile(folder / "tokens.json")
        self.now: datetime = NOW
        self.seconds = 0.0
        ticks: Iterator[int] = count(0, 2)
        keys = KeySet(
            "https://id.example.com/keys",
            transport=httpx.MockTransport(lambda _: httpx.Response(200, json=key_set(KEY))),
        )
        jwts = JwtVerifier(JwtRules(ISSUER, AUDIENCE, ("RS256",)), keys, lambda: self.now)
        self.access = Access(
            LiveTokens(self.file, lambda: float(next(ticks))),
            jwts if options.get("jwts") else None,
            lambda: self.now,
            is_locked=bool(options.get("is_locked")),
            challenge=Challenge("https://mcp.example.com/.well-known/x") if options.get("jwts") else None,
            attempts=FailedAttempts(lambda: self.seconds),
            trusted_proxies=("10.0.0.1", "10.0.0.2"),
        )

    async def token(self, owner: str, **options: object) -> str:
        def add() -> str:
            return self.file.add(owner, NOW, **options)[0]  # type: ignore[arg-type]

        return await to_thread.run_sync(add)

    async def ask(self, token: str | None, address: str = ADDRESS, **headers: str) -> Identity | Denial:
        lines = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        if token is not None:
            lines.append((b"authorization", f"Bearer {token}".encode()))
        return await self.access.identify(lines, address)

    async def owner(self, token: str | None, **headers: str) -> str | int:
        """Return the owner for whom a request acts, or the status of its refusal."""
        found = await self.ask(token, **headers)
        return found.owner if isinstance(found, Identity) else found.status


async def test_without_tokens_everybody_is_who_runs_the_server_until_there_is_one(tmp_path: Path) -> None:
    door = Door(tmp_path)
    assert await door.owner(None) == "local"
    token = await door.token("alice")
    assert await door.owner(None) == 401
    assert await door.owner(token) == "alice"


@pytest.mark.parametrize("form", ["{}\xa0", "\x85{}", "{}\t", "{}\0", "{}\u200b", "{}, {}", '"{}"', "{} x", "{}="])
async def test_a_token_with_anything_around_it_is_another_one(tmp_path: Path, form: str) -> None:
    door = Door(tmp_path)
    token = await door.token("alice")
    assert await door.owner(f"  {token} ") == "alice"
    lines = [(b"authorization", b"Bearer " + form.replace("{}", token).encode("latin-1", "replace"))]
    found = await door.access.identify(lines, ADDRESS)
    assert isinstance(found, Denial)
    assert found.status == 401


async def test_revoking_the_last_token_locks(tmp_path: Path) -> None:
    door = Door(tmp_path)
    token = await door.token("alice")
    assert await door.owner(token) == "alice"
    await to_thread.run_sync(door.file.revoke, "alice")
    assert await door.owner(token) == 401
    assert await door.owner(None) == 401


async def test_a_locked_server_stays_locked_without_its_file(tmp_path: Path) -> None:
    door = Door(tmp_path, is_locked=True)
    assert await door.owner(None) == 401


async def test_an_expired_token_is_refused(tmp_path: Path) -> None:
    door = Door(tmp_path)
    token = await door.token("alice", expires_at=NOW + timedelta(days=1))
    assert await door.owner(token) == "alice"
    door.now = NOW + timedelta(days=1)
    assert await door.owner(token) == 401


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic {}", "{}", "Bearer {} x", "Bearer x{}", "Token {}"])
async def test_a_token_counts_only_as_a_bearer_token_and_whole(tmp_path: Path, value: str) -> None:
    door = Door(tmp_path)
    token = await door.token("alice")
    assert await door.owner(None, authorization=value.format(token)) == 401


async def test_the_scheme_is_known_in_any_case(tmp_path: Path) -> None:
    door = Door(tmp_path)
    token = await door.token("alice")
    assert await door.owner(None, authorization=f"bEARER  {token}") == "alice"


async def test_an_unreadable_file_lets_no_token_in_and_says_where_to_look(tmp_path: Path) -> None:
    door = Door(tmp_path)
    token = await door.token("alice")
    await to_thread.run_sync((tmp_path / "tokens.json").write_text, "{")
    found = await door.ask(token)
    assert isinstance(found, Denial)
    assert found.status == 503
    assert str(tmp_path) not in found.text


async def test_a_client_is_told_where_to_get_a_token_only_where_there_is_an_identity_provider(tmp_path: Path) -> None:
    plain, signed = Door(tmp_path, is_locked=True), Door(tmp_path, jwts=True)
    assert (await challenge(plain, None)) == "Bearer"
    assert (await challenge(plain, new_token())) == 'Bearer error="invalid_token"'
    where = 'resource_metadata="https://mcp.example.com/.well-known/x"'
    assert (await challenge(signed, None)) == f"Bearer {where}"
    assert (await challenge(signed, "x")) == f'Bearer error="invalid_token", {where}'


async def challenge(door: Door, token: str | None) -> str:
    found = await door.ask(token)
    assert isinstance(found, Denial)
    return found.headers["www-authenticate"]


async def test_signed_tokens_and_own_ones_open_the_same_server(tmp_path: Path) -> None:
    door = Door(tmp_path, jwts=True)
    assert await door.owner(None) == 401
    assert await door.owner(KEY.sign(claims_for("alice"))) == "alice"
    assert await door.owner(KEY.sign_with_public_key(claims_for("alice"))) == 401
    assert await door.owner(await door.token("bob")) == "bob"


async def test_a_token_acts_for_those_whom_its_patterns_name_and_nobody_else(tmp_path: Path) -> None:
    door = Door(tmp_path, jwts=True)
    bot = await door.token("bot", may_act_for=("user-*", "Jürgen"))
    assert await door.owner(bot) == "bot"
    assert await door.owner(bot, conversation_owner="user-7") == "user-7"
    assert await door.owner(bot, conversation_owner="J%C3%BCrgen") == "Jürgen"
    assert await door.owner(bot, conversation_owner="bot") == "bot"
    for other in ("alice", "local", "xuser-7", "User-7", "user_7"):
        assert await door.owner(bot, conversation_owner=other) == 403
    signed = KEY.sign(claims_for("alice"))
    assert await door.owner(signed, conversation_owner="alice") == "alice"
    assert await door.owner(signed, conversation_owner="bob") == 403


@pytest.mark.parametrize(
    "name", ["", " ", "user-%0a", "user-%FF", "Jürgen", "user-%00", "user-" + "x" * 600, "%20user-7"]
)
async def test_a_name_that_can_be_nobodys_is_refused(tmp_path: Path, name: str) -> None:
    door = Door(tmp_path)
    bot = await door.token("bot", may_act_for=("*",))
    assert await door.owner(bot, conversation_owner=name) == 400


async def test_two_names_are_refused(tmp_path: Path) -> None:
    door = Door(tmp_path)
    token = await door.token("bot", may_act_for=("*",))
    lines = [(b"authorization", f"Bearer {token}".encode()), *[(b"conversation-owner", b"a")] * 2]
    found = await door.access.identify(lines, ADDRESS)
    assert isinstance(found, Denial)
    assert found.status == 400


async def test_a_flood_of_attempts_is_turned_away_and_valid_tokens_still_get_in(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    door = Door(tmp_path)
    token = await door.token("alice")
    told = [await door.owner(new_token()) for _ in range(FREE_ATTEMPTS + 30)]
    assert told == [401] * FREE_ATTEMPTS + [429] * 30
    assert await door.owner(token) == "alice"
    assert len(caplog.records) == 1
    refused = await door.ask(new_token())
    assert isinstance(refused, Denial)
    assert refused.headers["retry-after"] == "60"
    assert isinstance(other := await door.ask(new_token(), "192.0.2.2"), Denial)
    assert other.status == 401
    door.seconds = WINDOW_SECONDS
    assert await door.owner(new_token()) == 401


async def test_a_request_without_any_token_is_no_attempt(tmp_path: Path) -> None:
    door = Door(tmp_path, is_locked=True)
    assert {await door.owner(None) for _ in range(FREE_ATTEMPTS + 5)} == {401}


async def test_attempts_through_a_trusted_proxy_count_for_whom_it_names(tmp_path: Path) -> None:
    door = Door(tmp_path, is_locked=True)

    async def attempt(address: str, passed: str) -> int:
        found = await door.ask("x", address, x_forwarded_for=passed)
        assert isinstance(found, Denial)
        return found.status

    for _ in range(FREE_ATTEMPTS):
        await attempt("10.0.0.1", "198.51.100.9, 203.0.113.5, 10.0.0.2")
    assert await attempt("10.0.0.1", "6.6.6.6, 203.0.113.5") == 429  # what the client wrote itself does not count
    assert await attempt("10.0.0.1", "203.0.113.6") == 401
    assert await attempt("203.0.113.7", "203.0.113.5") == 401  # who is no proxy speaks for itself


def test_a_flood_from_many_addresses_does_not_fill_the_memory() -> None:
    attempts = FailedAttempts(lambda: 0.0)
    for number in range(MOST_ADDRESSES + 500):
        attempts.note(str(number))
    assert len(attempts) == MOST_ADDRESSES
