"""The viewer in a real browser: the whole command, looked at and used as a person does."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.browser import open_browser
from tests.fixtures.shown_library import LONG
from tests.fixtures.window import Window, open_window

ROWS, TITLES = "document.querySelectorAll('.row')", "document.querySelectorAll('.row a.title')"


@pytest.fixture
def window(tmp_path: Path) -> Generator[Window]:
    with open_window(tmp_path) as window:
        yield window


def test_only_who_has_the_token_gets_in(window: Window) -> None:
    assert window.browser.run("location.search") == ""
    assert "token" not in window.browser.run("document.documentElement.outerHTML").replace("form-token", "")
    with open_browser() as stranger:
        stranger.open(window.base)
        assert "holds a token" in stranger.run("document.body.textContent")
        stranger.open(f"{window.base}/?token=guess")
        assert "not right" in stranger.run("document.body.textContent")


def test_search_as_you_type_leads_to_the_message(window: Window) -> None:
    browser = window.browser
    browser.until(f"{ROWS}.length == 50")
    window.keep("list")
    browser.press("/")
    browser.type("lsm compact")
    browser.until("document.querySelectorAll('mark').length > 0")
    assert browser.run("location.search") == "?q=lsm+compact"
    assert browser.run("document.querySelector('#said').textContent").endswith("shown")
    browser.follow(f"{TITLES}[0].click()")
    assert browser.run("document.querySelector('section:target .text').textContent.includes('LSM')")
    assert browser.run("Math.abs(document.querySelector('section:target').getBoundingClientRect().top) < innerHeight")


def test_the_list_grows_while_scrolling_and_is_where_it_was_when_coming_back(window: Window) -> None:
    browser = window.browser
    browser.run("scrollTo(0, document.documentElement.scrollHeight)")
    browser.until(f"{ROWS}.length == 70")
    browser.until("document.querySelector('[data-summary]').textContent.startsWith('70 conversations ·')")
    browser.run(f"{TITLES}[65].scrollIntoView({{block: 'center'}})")
    top = browser.run("scrollY")
    browser.follow(f"{TITLES}[65].click()")
    browser.run("history.back()")
    browser.until(f"location.pathname == '/' && {ROWS}.length == 70")
    browser.until(f"Math.abs(scrollY - {top}) < 300")


def test_a_citation_and_its_source_lead_to_each_other(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[0]}")
    window.keep("conversation")
    browser.run("document.querySelector('.cite').click()")
    assert browser.run("document.querySelector('.sources li:target a[target]').textContent") == "B-tree"
    browser.run("document.querySelector('.sources li:target a.number').click()")
    assert browser.run("document.querySelector('.cite:target').textContent") == "[1]"


def test_code_and_the_path_can_be_copied(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[0]}")
    origin = {"origin": window.base, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.call("Browser.grantPermissions", **origin)
    browser.run("document.querySelector('pre').parentElement.querySelector('.copy').click()")
    browser.until("document.querySelector('#said').textContent == 'Copied.'")
    assert browser.run("navigator.clipboard.readText()").startswith("def lookup(node, key):")
    browser.run("document.querySelector('.path .copy').click()")
    browser.until("document.querySelector('.path .copy').textContent == 'Copied'")
    assert browser.run("navigator.clipboard.readText()").endswith("conversation.json")


def test_rename_branch_delete_and_undo(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[0]}")
    browser.run("document.querySelector('input[name=title]').value = 'Trees of all kinds'")
    browser.follow("document.querySelector('form[action$=rename] button').click()")
    assert browser.run("document.querySelector('h1').textContent") == "Trees of all kinds"
    browser.follow("document.querySelector('button.branch').click()")
    assert browser.run(f"!!document.querySelector('a[href=\"/c/{window.ids[0]}\"]')")
    browser.follow("document.querySelector('form[action$=delete] button').click()")
    assert browser.run("document.querySelector('.flash').textContent.includes('Moved to the trash')")
    browser.follow("document.querySelector('.flash button').click()")
    assert browser.run("location.pathname.startsWith('/c/')")


def test_a_follow_up_runs_and_ends_in_its_answer_without_a_reload(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[0]}")
    browser.run("document.querySelector('#question').focus()")
    browser.type("Is it still used today? [[hold]]")
    browser.follow("document.querySelector('.question-form .go').click()")
    browser.until("document.querySelector('[data-running]')")
    browser.until("document.querySelector('#sections').textContent.includes('Text so far')")
    window.keep("running")
    browser.mark()
    window.agent.release()
    browser.until("!document.querySelector('[data-running]')")
    browser.until("[...document.querySelectorAll('section.answer')].length == 2")
    assert browser.run("document.querySelector('#said').textContent").startswith("The question was answered")
    assert browser.is_marked


def test_a_running_question_can_be_stopped(window: Window) -> None:
    browser = window.browser
    window.open("/ask")
    browser.run("document.querySelector('#question').focus()")
    browser.type("Will this ever end? [[fault:silent]]")  # without an id of its run, which could end before the stop
    browser.follow("document.querySelector('.question-form .go').click()")
    browser.until("document.querySelector('[data-running] button')")
    browser.follow("document.querySelector('[data-running] button').click()")
    browser.until("!document.querySelector('[data-running]')")
    assert browser.run("document.querySelector('#sections').textContent").count("Question without an answer") == 1


def test_everything_is_within_reach_of_the_keyboard(window: Window) -> None:
    browser = window.browser
    browser.press("j", "j")
    assert browser.run(f"[...{TITLES}].indexOf(document.activeElement)") == 1
    browser.press("k", "e")
    browser.until(f"{ROWS}.length == 49")
    browser.until("document.querySelector('.flash button')")
    browser.press("z")
    browser.until(f"{ROWS}.length == 50")
    browser.press("?")
    assert browser.run("document.querySelector('#keys').open")
    browser.press("Escape")
    browser.until("!document.querySelector('#keys').open")
    browser.press("j")
    browser.mark()
    browser.press("Enter")
    browser.wait_for_another_page()
    browser.press("j")
    assert browser.run("document.activeElement.tagName") == "SECTION"
    browser.press("f")
    assert browser.run("document.activeElement.id") == "question"
    browser.press("Escape")
    browser.mark()
    browser.press("r")
    browser.wait_for_another_page()
    assert browser.run("document.body.textContent.startsWith('{')")
    window.open(f"/c/{window.ids[0]}")
    browser.mark()
    browser.press("u")
    browser.wait_for_another_page()
    assert browser.run("location.pathname") == "/"


def test_a_long_conversation_opens_at_once_and_grows_upwards(window: Window) -> None:
    browser = window.browser
    window.open(f"/c/{window.ids[LONG]}")
    assert browser.run("document.querySelectorAll('section').length") == 40
    browser.until("document.querySelector('[data-earlier]')")
    browser.run("scrollTo(0, 0)")
    browser.until("document.querySelectorAll('section').length >= 80")
    assert browser.run("document.querySelectorAll('section').length % 40") in {0, 1}
    seen = browser.run("[...document.querySelectorAll('section.answer')].map(each => each.id).length")
    assert seen == browser.run("new Set([...document.querySelectorAll('section.answer')].map(each => each.id)).size")


def test_a_phone_shows_all_of_it_without_scrolling_sideways(window: Window) -> None:
    browser = window.browser
    browser.show_as(390, 844, is_phone=True, scale=2)
    for path in ("/", f"/c/{window.ids[0]}", "/figures", "/ask", "/trash"):
        window.open(path)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), path
        if path == "/":
            window.keep("phone")
    browser.show_as(600, 400)  # what a window of 1,200 pixels has left at 200 %
    for path in ("/", f"/c/{window.ids[0]}", "/figures"):
        window.open(path)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth"), path


def test_without_its_script_the_page_still_works(window: Window) -> None:
    browser = window.browser
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    window.open("/?q=battery")
    root: dict[str, Any] = browser.call("DOM.getDocument", depth=-1)["root"]
    text = browser.call("DOM.getOuterHTML", nodeId=root["nodeId"])["outerHTML"]
    assert "<mark>battery</mark>" in text
    assert "has-script" not in text
