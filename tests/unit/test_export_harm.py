"""No text of a conversation does anything in the page of its export."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from tests.fixtures.attacks import ATTACKS, URLS
from tests.fixtures.chromium import dom_of
from tests.fixtures.conversations import conversations
from tests.fixtures.pages import conversation_of

from conversation_mcp.exporting.catalog import export_format
from conversation_mcp.records.models import Conversation

LOADING = {
    "img",
    "script",
    "iframe",
    "object",
    "embed",
    "link",
    "base",
    "video",
    "audio",
    "svg",
    "form",
    "input",
    "picture",
}


def hostile() -> Conversation:
    """Return a conversation in which every text is an attack."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": ATTACKS[0]}]
    for attack in ATTACKS:
        sources = [{"id": number, "title": attack, "url": url, "date": attack} for number, url in enumerate(URLS, 1)]
        facts = {
            "provider": attack,
            "model": attack,
            "reasoning": attack,
            "notices": [attack],
            "relatedQuestions": [attack],
        }
        messages.append({"role": "user", "content": attack, "tool": attack, "createdAt": attack})
        messages.append({"role": "assistant", "content": attack, "sources": sources, **facts})
    return conversation_of(messages, title="</title><script>document.title = 'taken'</script>", tags=list(ATTACKS))


class Seen(HTMLParser):
    """Collects the elements of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))


def assert_harmless(page: str) -> None:
    elements = Seen(page).elements
    assert {tag for tag, _ in elements} & LOADING == set()
    for tag, attributes in elements:
        assert not [name for name in attributes if name.startswith("on") or name in {"src", "style", "srcset"}], tag
        if target := attributes.get("href"):
            assert re.match(r"(?i)https?://[^/]|mailto:|#m\d+-\d+(-c)?\Z", target), target


def test_no_attack_leaves_anything_but_text_in_the_page() -> None:
    page = export_format("html").render(hostile())
    assert_harmless(page)
    assert page.count("<style>") == page.count("<h1") == page.count("<main>") == 1


@pytest.mark.slow
def test_a_real_browser_runs_nothing_of_it(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(export_format("html").render(hostile()), encoding="utf-8")
    dom = dom_of(page, tmp_path / "profile")
    assert_harmless(dom)
    assert "<title>&lt;/title&gt;&lt;script&gt;" in dom
    assert "Content-Security-Policy" in dom


@settings(max_examples=50, deadline=None)
@given(conversation=conversations())
def test_no_generated_conversation_makes_a_harmful_page(conversation: Conversation) -> None:
    assert_harmless(export_format("html").render(conversation))
