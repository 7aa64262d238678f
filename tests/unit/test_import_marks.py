"""The marks in answers of ChatGPT: their words stay, their signs go."""

from pathlib import Path

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
        ("filecite\ue202turn0file0", ""),
        ('products\ue202{"selections": [["turn0product1", "Kettle"]]}', ""),
        ("entity\ue202[cut", ""),
    ],
)
async def test_a_mark_that_nothing_is_told_of_gives_the_words_in_it(tmp_path: Path, payload: str, shown: str) -> None:
    answer = chatgpt_node("a", "q", "assistant", f"See \ue200{payload}\ue201, \ue203please\ue204.")
    conversation, report = await imported(tmp_path, chatgpt_entry("x", QUESTION, answer))
    assert said(conversation)[1] == f"See {shown}, please."
    assert counted(report) == ({} if shown else {f"mark {payload.partition(chr(0xE202))[0]}": 1})


@pytest.mark.parametrize(
    ("text", "shown", "left"),
    [
        ("So \ue200cite\ue202turn0search1 it goes on.", "So  it goes on.", {"citation marks": 1}),
        ('\ue200entity\ue202["people","Ada', '["people","Ada', {"mark entity": 1}),
        ("\ue200i\ue202by \ue200entity\ue202Ada\ue201 now\ue201.", "by Ada now.", {}),
        ("a\ue201b\ue202c \ue203d\ue204 \ue206", "abc d ", {}),
        ("See \ue200filecite\ue202turn0file0\ue202L1-L9\ue201.", "See .", {"mark filecite": 1}),
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
