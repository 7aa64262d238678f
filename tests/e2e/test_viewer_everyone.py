"""The viewer for everyone: with a screen reader, in either theme, printed, from right to left; and for attackers."""

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.attacks import ATTACKS, URLS
from tests.fixtures.full_conversation import full_conversation
from tests.fixtures.node import accessibility_rules
from tests.fixtures.shown_library import FULL
from tests.fixtures.window import Window, open_window

VIOLATIONS = "axe.run().then(found => found.violations.map(each => [each.id, each.nodes.map(node => node.html)]))"
HOSTILE = "20261001-1790812800000"


@pytest.fixture
def window(tmp_path: Path) -> Generator[Window]:
    with open_window(tmp_path) as window:
        yield window


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_rules_of_accessibility_hold_on_every_page(window: Window, theme: Any) -> None:
    browser, rules = window.browser, accessibility_rules()
    browser.show_as(1200, 800, theme=theme)

    def check(page: str) -> None:
        browser.run(f"{rules}; 0")
        assert browser.run(VIOLATIONS) == [], page

    paths = (
        "/",
        "/?q=tree&provider=perplexity",
        f"/c/{window.ids[0]}",
        f"/c/{window.ids[2]}",
        f"/c/{window.ids[FULL]}",
        "/figures",
        "/ask",
        "/trash",
        "/x",
    )
    for path in paths:
        window.open(path)
        if path == "/" and theme == "dark":
            window.keep("dark")
        if path == "/figures" and theme == "light":
            window.keep("figures")
        check(path)
    browser.complaints[:] = [told for told in browser.complaints if "404" not in told]
    window.open(f"/c/{window.ids[0]}")
    browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    check("all that unfolds")
    browser.follow("document.querySelector('form[action$=delete] button').click()")
    check("after a deletion")
    browser.press("?")
    check("the list of keys")
    window.open("/trash")
    check("a trash with something in it")
    window.open(f"/c/{window.ids[1]}")
    browser.run("document.querySelector('#question').value = 'Is it so? [[hold]]'")
    browser.follow("document.querySelector('.question-form .go').click()")
    browser.until("document.querySelector('[data-running] button')")
    check("a running question")
    window.agent.release()
    browser.until("!document.querySelector('[data-running]')")


def test_an_answer_from_right_to_left_reads_from_right_to_left(window: Window) -> None:
    window.open(f"/c/{window.ids[FULL]}")
    of_last = "[...document.querySelectorAll('section.answer .text')].at(-1)"
    assert window.browser.run(f"getComputedStyle({of_last}).direction") == "rtl"
    assert window.browser.run("getComputedStyle(document.querySelector('section.answer .text')).direction") == "ltr"


def test_nothing_moves_for_who_wants_no_motion(window: Window) -> None:
    browser = window.browser
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    pulse = "document.querySelector('main').insertAdjacentHTML('beforeend', '<i class=pulse></i>')"
    browser.run(pulse)
    animation = "getComputedStyle(document.querySelector('.pulse')).animationName"
    assert browser.run(animation) == "none"
    browser.call("Emulation.setEmulatedMedia", features=[])
    assert browser.run(animation) == "pulse"


def test_paper_shows_the_conversation_without_what_only_a_screen_can_use(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[FULL]}")
    browser.call("Emulation.setEmulatedMedia", media="print")
    for name in (".bar", ".actions", ".question-form", ".branch", ".copy"):
        assert browser.run(f"getComputedStyle(document.querySelector('{name}')).display") == "none", name
    assert browser.run("document.querySelector('section.answer').offsetHeight > 0")


def test_the_steps_of_a_workflow_stand_on_a_line_in_their_order(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[FULL]}")
    tops = browser.run("[...document.querySelectorAll('section.step')].map(each => each.getBoundingClientRect().top)")
    assert len(tops) == 2
    assert tops == sorted(tops)
    assert browser.run("getComputedStyle(document.querySelector('section.step')).borderLeftStyle") == "solid"


def test_nothing_in_a_hostile_conversation_runs_or_loads(window: Window, tmp_path: Path) -> None:
    texts = "\n\n".join(ATTACKS)
    data = full_conversation(HOSTILE, lambda _: texts, URLS)
    path = tmp_path / "conversation-logs" / HOSTILE / "conversation.json"
    path.parent.mkdir()
    path.write_text(json.dumps(data))
    browser = window.browser
    for page in (f"/c/{HOSTILE}", f"/?q=taken&tag={HOSTILE}", "/?q=taken", "/figures?by=model"):
        window.open(page)
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        assert browser.run("document.title") != "taken"
        assert (
            browser.run("document.querySelectorAll('main img, main iframe, main style, main svg[onload]').length") == 0
        )
    window.open(f"/c/{HOSTILE}")
    for place in range(browser.run("document.querySelectorAll('main a[target]').length")):
        target = browser.run(f"document.querySelectorAll('main a[target]')[{place}].href")
        assert target.startswith(("http://", "https://", "mailto:")), target
