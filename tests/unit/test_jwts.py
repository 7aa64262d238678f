"""Signed tokens of an identity provider: which ones are believed."""

import json
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import jwt
import pytest
from tests.fixtures.signing import AUDIENCE, ISSUER, NOW, SigningKey, claims_for, encoded, key_set

from conversation_mcp.access import key_sets
from conversation_mcp.access.jwts import SKEW_SECONDS, JwtRules, JwtVerifier
from conversation_mcp.access.key_sets import AGAIN_SECONDS, FRESH_SECONDS, KEPT_SECONDS, MAX_SET_BYTES, KeySet
from conversation_mcp.errors import InvalidInputError

KEY = SigningKey("one")
ELLIPTIC = SigningKey("two", "ES256")
STRANGER = SigningKey("one")
AT = int(NOW.timestamp())
RULES = JwtRules(ISSUER, AUDIENCE, ("RS256", "ES256"))
URL = "https://id.example.com/keys"


class Source:
    """A URL of keys, and a clock."""

    def __init__(self, *keys: SigningKey) -> None:
        self.keys: tuple[SigningKey, ...] = keys
        self.requests = 0
        self.status = 200
        self.seconds = 0.0
        self.set = KeySet(URL, transport=httpx.MockTransport(self.answer), seconds=lambda: self.seconds)

    def answer(self, _: httpx.Request) -> httpx.Response:
        self.requests += 1
        return httpx.Response(self.status, json=key_set(*self.keys))

    def verifier(self) -> JwtVerifier:
        return JwtVerifier(RULES, self.set, lambda: NOW)


async def owner_of(token: str, *keys: SigningKey) -> str | None:
    return await Source(*(keys or (KEY, ELLIPTIC))).verifier().owner_of(token)


async def test_the_subject_of_a_valid_token_is_the_owner() -> None:
    assert await owner_of(KEY.sign(claims_for())) == "alice"
    assert await owner_of(ELLIPTIC.sign(claims_for("bob"))) == "bob"
    assert await owner_of(KEY.sign(claims_for(aud=["other", AUDIENCE]))) == "alice"


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "https://other.example.com"},
        {"aud": []},
        {"aud": None},
        {"aud": AUDIENCE + "/"},
        {"iss": "https://id.example.com.evil.example"},
        {"iss": ISSUER + "/"},
        {"iss": None},
        {"iss": [ISSUER]},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": " alice"},
        {"sub": "a\nb"},
        {"sub": "x" * 600},
        {"sub": "local"},
        {"exp": None},
        {"exp": AT - SKEW_SECONDS},
        {"exp": "soon"},
        {"exp": [AT + 300]},
        {"exp": float("nan")},
        {"exp": -(10**400)},
        {"nbf": float("nan")},
        {"nbf": 10**400},
        {"iat": float("inf")},
        {"nbf": AT + SKEW_SECONDS + 1},
        {"nbf": "later"},
        {"iat": AT + SKEW_SECONDS + 1},
        {"iat": {}},
    ],
)
async def test_a_token_with_a_wrong_claim_is_refused(changes: dict[str, Any]) -> None:
    assert await owner_of(signed(claims_for(**changes))) is None


def signed(claims: dict[str, Any]) -> str:
    """Sign claims of any type; the library would refuse to encode some of them."""
    return jwt.api_jws.encode(json.dumps(claims).encode(), KEY.key, "RS256", {"kid": "one"})


async def test_clocks_may_be_a_little_apart() -> None:
    assert await owner_of(KEY.sign(claims_for(exp=AT - SKEW_SECONDS + 1, iat=AT - 600))) == "alice"
    assert await owner_of(KEY.sign(claims_for(iat=AT + SKEW_SECONDS, nbf=AT + SKEW_SECONDS))) == "alice"


ATTACKS: dict[str, Callable[[], str]] = {
    "none": lambda: KEY.unsigned(claims_for()),
    "None": lambda: KEY.unsigned(claims_for(), "None"),
    "no algorithm": lambda: KEY.unsigned(claims_for(), ""),
    "HMAC with the public key": lambda: KEY.sign_with_public_key(claims_for()),
    "a stranger's key by a known id": lambda: STRANGER.sign(claims_for()),
    "an unknown id": lambda: KEY.sign(claims_for(), kid="nobody"),
    "an algorithm that is not named": lambda: KEY.sign(claims_for(), "RS384"),
    "a key of another kind": lambda: ELLIPTIC.sign(claims_for(), kid="one"),
    "a key in the header": lambda: STRANGER.sign(claims_for(), kid="new", jwk=STRANGER.public()),
    "an address of keys in the header": lambda: STRANGER.sign(claims_for(), kid="new", jku="https://evil.example"),
    "certificates in the header": lambda: STRANGER.sign(claims_for(), x5c=["AAAA"], x5u="https://evil.example"),
    "claims that are not encoded": lambda: KEY.sign(claims_for(), b64=False, crit=["b64"]),
    "an extension that is critical": lambda: KEY.sign(claims_for(), crit=["x"], x=1),
    "a signature that was cut off": lambda: KEY.sign(claims_for()).rpartition(".")[0] + ".",
    "claims of another token": lambda: KEY.sign(claims_for()).replace(
        encoded_claims(KEY.sign(claims_for())), encoded(claims_for("bob"))
    ),
    "an id that is a number": lambda: f"{encoded({'alg': 'RS256', 'kid': 7})}.{encoded(claims_for())}.AAAA",
    "an id that is a list": lambda: f"{encoded({'alg': 'RS256', 'kid': ['one']})}.{encoded(claims_for())}.AAAA",
    "an algorithm that is a list": lambda: f"{encoded({'alg': ['RS256'], 'kid': 'one'})}.{encoded(claims_for())}.AAAA",
    "encrypted": lambda: "a.b.c.d.e",
    "huge": lambda: KEY.sign(claims_for(note="x" * 20_000)),
    "deep": lambda: f"{encoded({'alg': 'RS256', 'kid': 'one'})}.{'W1tb' * 3_000}.AAAA",
    "empty": lambda: "..",
    "text": lambda: "é.é.é",
}


def encoded_claims(token: str) -> str:
    return token.split(".")[1]


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_forged_token_is_refused(attack: str) -> None:
    assert await owner_of(ATTACKS[attack]()) is None


async def test_secrets_keys_for_encryption_and_keys_of_another_algorithm_sign_nothing() -> None:
    assert await owner_of(KEY.sign(claims_for()), SigningKey("one", key=KEY.key, facts={"use": "enc"})) is None
    assert await owner_of(KEY.sign(claims_for()), SigningKey("one", key=KEY.key, facts={"alg": "RS512"})) is None
    secret = {"keys": [{"kty": "oct", "kid": "one", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U"}]}
    keys = KeySet(URL, transport=httpx.MockTransport(lambda _: httpx.Response(200, json=secret)))
    token = jwt.encode(claims_for(), "secretsecretsecretsecretsecretse", "HS256", {"kid": "one"})
    assert await JwtVerifier(JwtRules(ISSUER, AUDIENCE, ("HS256",)), keys, lambda: NOW).owner_of(token) is None


async def test_keys_are_kept_and_a_new_one_is_found_when_a_token_names_it() -> None:
    source = Source(KEY)
    verifier = source.verifier()
    for _ in range(5):
        assert await verifier.owner_of(KEY.sign(claims_for())) == "alice"
    assert source.requests == 1
    source.keys, source.seconds = (ELLIPTIC,), AGAIN_SECONDS
    assert await verifier.owner_of(ELLIPTIC.sign(claims_for("bob"))) == "bob"
    assert await verifier.owner_of(KEY.sign(claims_for())) is None
    assert source.requests == 2


async def test_a_flood_of_unknown_keys_asks_the_provider_once() -> None:
    source = Source(KEY)
    verifier = source.verifier()
    for number in range(50):
        assert await verifier.owner_of(STRANGER.sign(claims_for(), kid=f"k{number}")) is None
    assert source.requests == 1
    assert await verifier.owner_of(KEY.sign(claims_for())) == "alice"


async def test_a_withdrawn_key_is_noticed_without_being_asked_for_another() -> None:
    source = Source(KEY)
    verifier = source.verifier()
    assert await verifier.owner_of(KEY.sign(claims_for())) == "alice"
    source.keys, source.seconds = (), FRESH_SECONDS
    assert await verifier.owner_of(KEY.sign(claims_for())) is None


async def test_known_keys_outlive_a_provider_that_is_away_but_not_for_ever() -> None:
    source = Source(KEY)
    verifier = source.verifier()
    assert await verifier.owner_of(KEY.sign(claims_for())) == "alice"
    source.status, source.seconds = 503, FRESH_SECONDS + 1
    assert await verifier.owner_of(KEY.sign(claims_for())) == "alice"
    source.seconds = KEPT_SECONDS + 1
    assert await verifier.owner_of(KEY.sign(claims_for())) is None


async def test_a_token_without_a_key_id_is_checked_by_the_only_key() -> None:
    token = jwt.encode(claims_for(), KEY.key, "RS256")
    assert await owner_of(token, KEY) == "alice"
    assert await owner_of(token, KEY, ELLIPTIC) is None


async def test_keys_come_from_a_file_too(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(key_set(KEY)))
    verifier = JwtVerifier(RULES, KeySet(str(path)), lambda: NOW)
    assert await verifier.owner_of(KEY.sign(claims_for())) == "alice"


@pytest.mark.parametrize("text", [b"", b"[]", b'{"keys": {}}', b'{"keys": [1, null]}', b"x" * 600_000])
async def test_what_is_no_set_of_keys_lets_nobody_in(text: bytes, caplog: pytest.LogCaptureFixture) -> None:
    keys = KeySet(URL, transport=httpx.MockTransport(lambda _: httpx.Response(200, content=text)))
    assert await JwtVerifier(RULES, keys, lambda: NOW).owner_of(KEY.sign(claims_for())) is None
    assert "x" * 100 not in caplog.text


async def test_keys_are_fetched_from_nowhere_else_than_their_address() -> None:
    asked: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        return httpx.Response(302, headers={"location": "https://evil.example/keys"}, json=key_set(KEY))

    keys = KeySet(URL, transport=httpx.MockTransport(answer))
    assert await JwtVerifier(RULES, keys, lambda: NOW).owner_of(KEY.sign(claims_for())) is None
    assert asked == [URL]


async def test_a_set_of_keys_that_does_not_end_is_not_read_to_its_end() -> None:
    sent: list[int] = []

    async def endless() -> AsyncGenerator[bytes]:
        while True:
            sent.append(1)
            yield b" " * 100_000

    keys = KeySet(URL, transport=httpx.MockTransport(lambda _: httpx.Response(200, content=endless())))
    assert await JwtVerifier(RULES, keys, lambda: NOW).owner_of(KEY.sign(claims_for())) is None
    assert len(sent) == MAX_SET_BYTES // 100_000 + 1


async def test_a_set_of_keys_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_sets, "FETCH_SECONDS", 0.01)
    keys = KeySet(URL, transport=httpx.MockTransport(never))
    with anyio.fail_after(30):
        assert await JwtVerifier(RULES, keys, lambda: NOW).owner_of(KEY.sign(claims_for())) is None


async def never(_: httpx.Request) -> httpx.Response:
    await anyio.sleep_forever()
    raise AssertionError


async def test_claims_that_come_twice_count_once() -> None:
    twice = json.dumps(claims_for())[:-1] + ', "sub": "bob", "sub": "local"}'
    assert await owner_of(jwt.api_jws.encode(twice.encode(), KEY.key, "RS256", {"kid": "one"})) is None


@pytest.mark.parametrize("url", ["http://id.example.com/keys", "ftp://id.example.com", "file:///keys"])
def test_keys_are_not_fetched_where_they_could_be_replaced_on_their_way(url: str) -> None:
    with pytest.raises(InvalidInputError, match="https"):
        KeySet(url)
