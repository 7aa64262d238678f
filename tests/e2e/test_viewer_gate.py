"""Nobody gets into the viewer, and nothing in a conversation gets out of its page."""

import re
from html.parser import HTMLParser
from urllib.parse import quote

import pytest
from tests.fixtures.attacks import ATTACKS, URLS
from tests.fixtures.full_conversation import full_conversation
from tests.fixtures.homes import Home
from tests.fixtures.providers import FakeProvider
from tests.fixtures.viewing import ADDRESS, visiting

PATHS = ("/", "/trash", "/figures", "/ask", "/models", "/c/20250101-1735689600000", "/style.css", "/page.js")
POSTS = (
    "/ask",
    *(
        f"/c/20250101-1735689600000/{what}"
        for what in ("ask", "stop", "rename", "tag", "archive", "branch", "delete", "restore")
    ),
)


async def test_without_the_token_nothing_is_shown(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        for path in PATHS:
            answer = await visitor.get(path)
            assert answer.status_code == 401, path
            assert "conversation-mcp view" in answer.text
        for guess in ("", "x", visitor.visits.token[:-1], visitor.visits.token + "a", "é"):
            answer = await visitor.client.get("/", params={"token": guess})
            assert answer.status_code == 401
            assert "set-cookie" not in answer.headers
        for path in POSTS:
            assert (await visitor.post(path)).status_code == 401


async def test_the_token_becomes_a_strict_cookie_and_leaves_the_address(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        answer = await visitor.client.get("/figures", params={"by": "model", "token": visitor.visits.token})
        assert (answer.status_code, answer.headers["location"]) == (303, "/figures?by=model")
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert visitor.visits.token not in cookie
        elsewhere = await visitor.client.get(f"{ADDRESS}//evil.example/", params={"token": visitor.visits.token})
        assert elsewhere.headers["location"] == "/evil.example/"


async def test_browsers_keep_the_style_and_script_of_a_page_but_never_those_of_another_version(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        named = re.findall(r'(?:href|src)="(/[^"]+\?v=[^"]+)"', (await visitor.get("/ask")).text)
        assert sorted(path.partition("?")[0] for path in named) == ["/favicon.svg", "/page.js", "/style.css"]
        for path in named:
            answer = await visitor.get(path)
            assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
            for other in (path[:-1], path.partition("?")[0]):
                assert (await visitor.get(other)).text == answer.text
                assert "no-cache" in (await visitor.get(other)).headers["cache-control"]
        assert "no-cache" in (await visitor.get("/ask")).headers["cache-control"]


async def test_another_site_can_send_nothing(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        data = {"form": visitor.form_token, "kind": "search", "question": "one?"}
        for origin in ("http://evil.example", "null", "http://127.0.0.1:8002", "http://127.0.0.1", ""):
            answer = await visitor.client.post("/ask", data=data, headers={"origin": origin} if origin else {})
            assert answer.status_code == 403, origin
        for token in ("", "x", visitor.form_token[:-1]):
            answer = await visitor.client.post("/ask", data={**data, "form": token}, headers={"origin": ADDRESS})
            assert answer.status_code == 403
        assert home.ids() == []


async def test_a_name_that_was_pointed_at_this_machine_is_not_answered(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        for host in ("evil.example:8001", "evil.example", "127.0.0.1", "127.0.0.1:8002", ""):
            assert (await visitor.get("/", host=host)).status_code == 421, host


async def test_forms_are_bounded_and_methods_few(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        large = await visitor.post("/ask", kind="search", question="x" * 4_100_000)
        assert large.status_code == 413
        for method in ("PUT", "DELETE", "OPTIONS", "TRACE"):
            assert (await visitor.client.request(method, "/")).status_code == 405
        assert (await visitor.get("/c/20250101-1735689600000/delete")).status_code in {404, 405}


async def test_every_answer_confines_its_page(home: Home) -> None:
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        for path in (*PATHS, "/nowhere"):
            headers = (await visitor.get(path)).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"


class Elements(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_text_of_a_conversation_is_more_than_text(home: Home, attack: str) -> None:
    data = full_conversation("20250101-1735689600000", lambda _: attack, URLS)
    data["messages"].append(
        {"role": "assistant", "content": f"{attack} [1]", "provider": attack, "model": attack, "preset": attack}
    )
    home.put(data)
    async with visiting(home, FakeProvider()) as visitor:
        await visitor.enter()
        place = "/c/20250101-1735689600000"
        branch = (await visitor.post(f"{place}/branch", message="3")).headers["location"]
        await visitor.post(f"{branch}/delete")
        other = (await visitor.post(f"{place}/branch", message="3")).headers["location"]
        for path in ("/", "/?q=alert", place, other, "/trash", "/figures?by=model", f"/?tag={quote(attack[:20])}"):
            answer = await visitor.client.get(path)
            assert answer.status_code == 200
            for tag, attributes in Elements(answer.text).found:
                assert tag not in {"img", "iframe", "object", "embed", "base", "style", "video"}, (path, tag)
                assert tag != "script" or (attributes["src"] or "").startswith("/page.js?v=")
                assert not [name for name in attributes if name.startswith("on") or name == "style"]
                target = (attributes.get("href") or attributes.get("src") or "/").lower()
                assert target.startswith(("/", "#", "https://", "http://", "mailto:")), target
                assert not target.startswith("//"), target
