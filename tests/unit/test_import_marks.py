"""The marks in answers of ChatGPT: their words stay, their signs go."""

from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.sites import chatgpt_entry, chatgpt_node
from tests.fixtures.web_exports import QUESTION, case, counted, imported, said


async def test_marks_in_an_answer_become_their_words(tmp_path: Path) -> None:
    conversation, report = await case(tmp_path, "chatgpt-entity/conversations.json")
    assert said(conversation)[1] == "The review by Ada Muster says that iron came early.[1] It was written in Zug."
    sources = [(each.id, each.url) for each in conversation.messages[1].sources or ()]
    assert sources == [(1, "https://iron.example/a"), (2, "https://ore.example/b")]
    assert counted(report) == {}


async def test_marks_of_links_files_and_pictures(tmp_path: Path) -> None:
    conversation, report = await case(tmp_path, "chatgpt-entity/marks.json")
    assert said(conversation)[1] == (
        "Read [the manual](https://man.example/x) first. Boil the water[1]. See kettle.pdf."
    )
    assert counted(report) == {"mark image_group": 1}


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ('entity\ue202["people","Ada Muster",0]', "Ada Muster"),
        ('entity\ue202["Zug"]', "Zug"),
        ("url\ue202the manual\ue202https://man.example/x", "[the manual](https://man.example/x)"),
        ("navlist\ue202Latest news\ue202turn0news1,turn0news2", "Latest news"),
        ('entity\ue202{"name": "Ada Muster", "type": "person"}', "Ada Muster"),
        ('entity\ue202["people","Ada Must', "Ada Must"),
        ('product_entity\ue202["turn0product1","Fine Kettle"]', "Fine Kettle"),
        ("filecite\ue202turn0file0", ""),
        ("memcite\ue202turn0mem", ""),
        ('products\ue202{"selections": [["turn0product1", "Kettle"]]}', ""),
        ("entity\ue202[cut", ""),
    ],
)
async def test_a_mark_that_nothing_is_told_of_gives_the_words_in_it(tmp_path: Path, payload: str, shown: str) -> None:
    answer = chatgpt_node("a", "q", "assistant", f"See \ue200{payload}\ue201, \ue203please\ue204.")
    conversation, report = await imported(tmp_path, chatgpt_entry("x", QUESTION, answer))
    assert said(conversation)[1] == (f"See {shown}, please." if shown else "See, please.")
    assert counted(report) == ({} if shown else {f"mark {payload.partition(chr(0xE202))[0]}": 1})


@pytest.mark.parametrize(
    ("text", "shown", "left"),
    [
        ("So \ue200cite\ue202turn0search1 it goes on.", "So it goes on.", {"citation marks": 1}),
        ('\ue200entity\ue202["people","Ada', "Ada", {}),
        ('By \ue200entity\ue202["people","Ada"] herself', "By Ada herself", {}),
        ('\ue200image_group\ue202{"query": []}\ue201\n\nIt is red.', "It is red.", {"mark image_group": 1}),
        ("\ue200i\ue202by \ue200entity\ue202Ada\ue201 now\ue201.", "by Ada now.", {}),
        ("a\ue201b\ue202c \ue203d\ue204 \ue206", "abc d ", {}),
        ("See \ue200filecite\ue202turn0file0\ue202L1-L9\ue201.", "See.", {"mark filecite": 1}),
        ('\ue200products\ue202{"x": 1}\ue201', "(not imported: marks that have no words)", {"mark products": 1}),
    ],
)
async def test_marks_that_are_cut_or_nested_leave_no_sign_and_no_word_behind(
    tmp_path: Path, text: str, shown: str, left: dict[str, int]
) -> None:
    conversation, report = await imported(
        tmp_path, chatgpt_entry("x", QUESTION, chatgpt_node("a", "q", "assistant", text))
    )
    assert (said(conversation)[1], counted(report)) == (shown, left)


CITED = "\ue200cite\ue202turn0search1\ue201"
IRON: dict[str, Any] = {"url": "https://iron.example", "title": "Iron"}
ORE: dict[str, Any] = {"url": "https://ore.example", "title": "Ore"}


def named(page: dict[str, Any], index: int, field: str) -> dict[str, Any]:
    name = {"turn_index": 0, "ref_type": "search", "ref_index": index}
    return page | {field: [name] if field == "refs" else name}


@pytest.mark.parametrize(
    "told",
    [
        {"content_references": [named(ORE, 0, "refs"), named(IRON, 1, "refs")]},
        {"content_references": [{"items": [named(ORE, 0, "refs"), named(IRON, 1, "refs")]}]},
        {"search_result_groups": [{"entries": [named(ORE, 0, "ref_id"), named(IRON, 1, "ref_id")]}]},
        {"content_references": [{"matched_text": CITED, "type": "grouped", "items": [], "fallback_items": [IRON]}]},
    ],
)
async def test_a_mark_finds_its_page_by_name(tmp_path: Path, told: dict[str, Any]) -> None:
    answer = chatgpt_node("a", "q", "assistant", f"It came early.{CITED}", metadata=told)
    conversation, report = await imported(tmp_path, chatgpt_entry("x", QUESTION, answer))
    assert said(conversation)[1] == "It came early.[1]"
    assert next(iter(conversation.messages[1].sources or ())).url == IRON["url"]
    assert counted(report) == {}


async def test_a_mark_finds_the_page_that_a_tool_read(tmp_path: Path) -> None:
    page = {"content_type": "sonic_webpage", **IRON, "text": "a page", "ref_id": "turn0search1"}
    conversation, report = await imported(
        tmp_path,
        chatgpt_entry(
            "x",
            QUESTION,
            chatgpt_node("t", "q", "tool", content=page),
            chatgpt_node("a", "t", "assistant", f"It came early.{CITED}"),
        ),
    )
    assert said(conversation)[1] == "It came early.[1]"
    assert counted(report) == {"tool without a name": 1}


async def test_marks_in_questions_and_reasoning_become_their_words_too(tmp_path: Path) -> None:
    mark = '\ue200entity\ue202["city","Zug"]\ue201'
    thoughts = {"content_type": "thoughts", "thoughts": [{"content": f"It is {mark}."}]}
    conversation, _ = await imported(
        tmp_path,
        chatgpt_entry(
            "x",
            chatgpt_node("q", None, "user", f"Is it {mark}?"),
            chatgpt_node("t", "q", "assistant", content=thoughts),
            chatgpt_node("c", "t", "assistant", f"Really {mark}.", channel="analysis"),
            chatgpt_node("a", "c", "assistant", "Yes."),
        ),
    )
    assert said(conversation) == ["Is it Zug?", "Yes."]
    assert conversation.messages[1].reasoning == "It is Zug.\n\nReally Zug."
