"""What ChatGPT writes into canvases: the documents of an answer, as the calls of a turn leave them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.sites import chatgpt_entry, chatgpt_node
from tests.fixtures.web_exports import QUESTION, case, counted, imported, said

from conversation_mcp.importing.formats.chatgpt_canvas import passage_of


def canvas(name: str, parent: str, call: object, tool: str = "canmore.create_textdoc") -> dict[str, Any]:
    text = call if isinstance(call, str) else json.dumps(call)
    return chatgpt_node(name, parent, "assistant", content={"content_type": "code", "text": text}, recipient=tool)


async def test_what_was_written_into_a_canvas_is_in_the_answer(tmp_path: Path) -> None:
    conversation, report = await case(tmp_path, "chatgpt-canvas/conversations.json")
    assert said(conversation)[1] == (
        "Letter:\n\n```\nDear Ms Example,\n\nthe heating has failed since Monday.\n```\n\n"
        "I drafted the letter. Shall it be firmer?"
    )
    assert counted(report) == {"tool canmore.create_textdoc": 1}


async def test_a_canvas_is_shown_as_the_calls_of_each_turn_leave_it(tmp_path: Path) -> None:
    def update(pattern: str, new: str) -> dict[str, Any]:
        return {"updates": [{"pattern": pattern, "multiple": False, "replacement": new}]}

    tool = "canmore.update_textdoc"
    conversation, report = await imported(
        tmp_path,
        chatgpt_entry(
            "x",
            QUESTION,
            canvas("c1", "q", {"name": "Poem", "content": "Roses are \ue200entity\ue202red\ue201."}),
            canvas("c2", "c1", update("Roses", "Red roses"), tool),
            chatgpt_node("a1", "c2", "assistant", "Written."),
            chatgpt_node("q2", "a1", "user", "Anew."),
            canvas("c3", "q2", update(".*", "Violets."), tool),
            chatgpt_node("q3", "c3", "user", "The end?"),
            canvas("c4", "q3", update(r"V[a-z]+s\.", "Tulips."), tool),
        ),
    )
    assert said(conversation) == [
        "Do it.",
        "Poem:\n\n```\nRed roses are red.\n```\n\nWritten.",
        "Anew.",
        "Poem:\n\n```\nViolets.\n```",
        "The end?",
        "Poem, changed:\n\n```\nTulips.\n```",
    ]
    assert (conversation.pending_turn, counted(report)) == (None, {})


async def test_a_change_to_a_canvas_that_failed_is_none(tmp_path: Path) -> None:
    change = {"updates": [{"pattern": "x", "replacement": "y"}]}
    failure = {"content_type": "system_error", "text": "Error: nothing matches"}
    conversation, report = await imported(
        tmp_path,
        chatgpt_entry(
            "x",
            QUESTION,
            canvas("c", "q", change, "canmore.update_textdoc"),
            chatgpt_node("t", "c", "tool", content=failure),
            chatgpt_node("a", "t", "assistant", "It failed."),
        ),
    )
    assert said(conversation)[1] == "It failed."
    assert counted(report) == {"tool canmore.update_textdoc": 1, "tool without a name": 1}


async def test_a_call_that_is_cut_is_the_canvas_itself(tmp_path: Path) -> None:
    conversation, _ = await imported(tmp_path, chatgpt_entry("x", QUESTION, canvas("c", "q", '{"name": "Le')))
    assert said(conversation) == ["Do it.", 'Canvas:\n\n```\n{"name": "Le\n```']


async def test_a_call_writes_into_the_canvas_that_its_result_names(tmp_path: Path) -> None:
    def result(name: str, parent: str, canvas_id: str) -> dict[str, Any]:
        return chatgpt_node(name, parent, "tool", "", metadata={"canvas": {"textdoc_id": canvas_id}})

    update = {"updates": [{"pattern": r"one \(1\)\.", "multiple": True, "replacement": "uno."}]}
    comment = {"comments": [{"pattern": "print", "comment": "Use a function."}]}
    conversation, _ = await imported(
        tmp_path,
        chatgpt_entry(
            "x",
            QUESTION,
            canvas("c1", "q", {"name": "A", "content": "one (1). one (1)."}),
            result("r1", "c1", "first"),
            canvas("c2", "r1", {"name": "B", "type": "code/python", "content": "print(1)"}),
            result("r2", "c2", "second"),
            chatgpt_node("a", "r2", "assistant", "Written."),
            chatgpt_node("q2", "a", "user", "In Italian."),
            canvas("c3", "q2", update, "canmore.update_textdoc"),
            result("r3", "c3", "first"),
            canvas("c4", "r3", comment, "canmore.comment_textdoc"),
            result("r4", "c4", "second"),
        ),
    )
    assert said(conversation)[3] == ("A:\n\n```\nuno. uno.\n```\n\nB, comments:\n\n```\nprint\n\nUse a function.\n```")


@pytest.mark.parametrize(
    ("pattern", "passage"),
    [
        ("Roses.*sweet\\.", "Roses are red. Sugar is sweet."),
        ("Roses.*?red", "Roses are red"),
        ("(?s)red.*End", "red. Sugar is sweet. So are you.\nThe End"),
        (r"red[\s\S]*?The", "red. Sugar is sweet. So are you.\nThe"),
        ("red.*End", ""),
        ("Tulips.*", ""),
        ("(Roses|Tulips)", ""),
    ],
)
def test_a_pattern_with_wildcards_means_a_passage(pattern: str, passage: str) -> None:
    assert passage_of("Roses are red. Sugar is sweet. So are you.\nThe End", pattern) == passage
