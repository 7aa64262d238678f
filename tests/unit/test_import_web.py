"""What the exports of ChatGPT and Claude hold as they are now: reports, pictures and calls of tools, archives in a folder."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in, stored_in
from tests.fixtures.exports.sites import chatgpt_entry, chatgpt_node
from tests.fixtures.web_exports import CASES, QUESTION, case, counted, imported, said


@pytest.mark.parametrize("file", ["conversations.json", "only.json"])
async def test_the_report_of_a_research_is_the_answer_with_its_sources(tmp_path: Path, file: str) -> None:
    conversation, _ = await case(tmp_path, f"chatgpt-deep-research/{file}")
    report = conversation.messages[1]
    assert report.content == "# Heat pumps in old houses\n\nThey work with large radiators.[1]"
    assert [(each.title, each.url) for each in report.sources or ()] == [("Pumps", "https://pump.example")]
    assert (conversation.pending_turn, conversation.unanswered_turns) == (None, None)


@pytest.mark.parametrize(
    ("state", "answer"),
    [
        ({"report_message": "# A report"}, "# A report"),
        ('{"report_message": null, "status": "it still runs"}', None),
        ("{cut here", None),
    ],
)
async def test_states_of_a_research_of_other_shapes(tmp_path: Path, state: object, answer: str | None) -> None:
    metadata: dict[str, Any] = {"chatgpt_sdk": {"widget_state": state}}
    tool = chatgpt_node("t", "q", "tool", "", metadata=metadata)
    conversation, report = await imported(tmp_path, chatgpt_entry("x", QUESTION, tool))
    assert said(conversation)[1] == (answer or "(nothing was said here; tools that were called: without a name)")
    assert counted(report) == ({} if answer else {"tool without a name": 1})


def widget(name: str, parent: str, state: object, text: str = "") -> dict[str, Any]:
    return chatgpt_node(name, parent, "tool", text, metadata={"chatgpt_sdk": {"widget_state": json.dumps(state)}})


def report_of(name: str, text: str) -> dict[str, Any]:
    return {"report_message": {"id": name, "content": {"content_type": "text", "parts": [text]}}}


async def test_each_report_is_an_answer_and_a_later_state_of_it_replaces_it(tmp_path: Path) -> None:
    told = f"The latest state of the widget is: {json.dumps(report_of('r1', 'The first, whole.'))}"
    conversation, report = await imported(
        tmp_path,
        chatgpt_entry(
            "x",
            QUESTION,
            widget("t1", "q", report_of("r1", "The first")),
            widget("t2", "t1", report_of("r2", "The second.")),
            chatgpt_node("t3", "t2", "tool", told),
            chatgpt_node("a", "t3", "assistant", "Two reports."),
        ),
    )
    assert said(conversation) == ["Do it.", "The first, whole.", "The second.", "Two reports."]
    assert counted(report) == {}


@pytest.mark.parametrize(
    "metadata",
    [
        {"venus_widget_state": json.dumps(report_of("r", "# It"))},
        {"chatgpt_sdk": {"tool_response_metadata": {"venus_widget_state": report_of("r", "# It")}}},
        {"chatgpt_sdk": {"widget_state": {"report_messages": [report_of("r", "# It")["report_message"]]}}},
        {"chatgpt_sdk": [{"widgetState": json.dumps({"reportMessage": json.dumps({"content": {"parts": "# It"}})})}]},
        {"chatgpt_sdk": json.dumps({"widget_state": {"report": {"title": "It", "markdown": "# It"}}})},
        {"chatgpt_sdk": {"widget_state": {"report_markdown": "# It"}}},
    ],
)
async def test_a_report_is_found_wherever_the_state_is_kept(tmp_path: Path, metadata: dict[str, Any]) -> None:
    for role in ("tool", "assistant"):
        node = chatgpt_node("t", "q", role, "", metadata=metadata)
        (tmp_path / role).mkdir()
        conversation, _ = await imported(tmp_path / role, chatgpt_entry("x", QUESTION, node))
        assert said(conversation) == ["Do it.", "# It"]


async def test_a_result_that_came_later_is_the_answer_though_a_tool_tells_it(tmp_path: Path) -> None:
    result = chatgpt_node("t", "q", "tool", "# Found", metadata={"is_async_task_result_message": True})
    conversation, _ = await imported(tmp_path, chatgpt_entry("x", QUESTION, result))
    assert said(conversation) == ["Do it.", "# Found"]


async def test_files_have_the_names_that_the_export_lists(tmp_path: Path) -> None:
    def asked(name: str, parent: str | None, pointer: str) -> dict[str, Any]:
        parts = [{"content_type": "image_asset_pointer", "asset_pointer": pointer}, "What is it?"]
        return chatgpt_node(name, parent, "user", content={"content_type": "multimodal_text", "parts": parts})

    names = {"file_01.dat": "a/kettle.png", "file-Ab9": {"file_name": "pot.jpg"}, "file_03": 7}
    put_json(tmp_path / "conversation_asset_file_names.json", names)
    pointers = ("sediment://file_01", "file-service://file-Ab9", "sediment://file_03")
    nodes = [asked(str(n), str(n - 1) if n else None, pointer) for n, pointer in enumerate(pointers)]
    put_json(
        tmp_path / "conversations.json", [chatgpt_entry("x", *nodes, chatgpt_node("a", "2", "assistant", "Pots."))]
    )
    await bring_in(tmp_path, tmp_path / "logs")
    (conversation,) = await stored_in(tmp_path / "logs")
    told = [notice for each in conversation.messages for notice in each.notices or ()]
    assert told == [f"attachment not imported: {name}" for name in ("kettle.png", "pot.jpg", "sediment://file_03")]


@pytest.mark.parametrize(
    ("begun", "whole"),
    [
        ([chatgpt_node("a", "q", "assistant", "It is")], [chatgpt_node("a", "q", "assistant", "It is done.")]),
        ([chatgpt_node("t", "q", "tool", "a result")], [chatgpt_node("t", "q", "tool", "a result"), chatgpt_node("a", "t", "assistant", "Done.")]),
    ],
)  # fmt: skip
async def test_an_answer_that_has_become_longer_since_is_taken(
    tmp_path: Path, begun: list[dict[str, Any]], whole: list[dict[str, Any]]
) -> None:
    await imported(tmp_path, chatgpt_entry("x", QUESTION, *begun))
    conversation, report = await imported(tmp_path, chatgpt_entry("x", QUESTION, *whole))
    assert said(conversation) == ["Do it.", whole[-1]["message"]["content"]["parts"][0]]
    assert report.counts["extended"] == 1


async def test_a_picture_that_a_tool_made_is_named_in_the_answer(tmp_path: Path) -> None:
    picture: dict[str, Any] = {
        "content_type": "multimodal_text",
        "parts": [{"asset_pointer": "sediment://file_7", "metadata": {}}],
    }
    nodes = (QUESTION, chatgpt_node("t", "q", "tool", content=picture))
    conversation, report = await imported(tmp_path, chatgpt_entry("x", *nodes))
    assert said(conversation)[1] == "(attachment not imported: sediment://file_7)"
    assert counted(report) == {"attachments": 1}


async def test_a_turn_in_which_only_tools_were_called_says_so(tmp_path: Path) -> None:
    call = chatgpt_node("c", "q", "assistant", content={"content_type": "code", "text": "1 + 1"}, recipient="python")
    conversation, report = await imported(
        tmp_path,
        chatgpt_entry("x", QUESTION, call, chatgpt_node("q2", "c", "user", "And?")),
    )
    assert said(conversation) == ["Do it.", "(nothing was said here; tools that were called: python)"]
    assert conversation.messages[1].notices == ("nothing was said here; tools that were called: python",)
    assert conversation.pending_turn is not None
    assert conversation.pending_turn.question == "And?"
    assert counted(report) == {"tool python": 1}


async def test_content_of_a_kind_that_nobody_knows_is_named_and_counted(tmp_path: Path) -> None:
    odd = chatgpt_node("a", "q", "assistant", content={"content_type": "hologram", "layers": ["It turns blue."]})
    part = {"content_type": "postcard", "words": "Greetings from Zug"}
    told = chatgpt_node("a2", "a", "assistant", "See this:", part)
    critic = chatgpt_node("c", "a2", "critic", "Hm.")
    conversation, report = await imported(tmp_path, chatgpt_entry("x", QUESTION, odd, told, critic))
    assert said(conversation) == ["Do it.", "(not imported: hologram)", "See this:"]
    assert counted(report) == {"hologram": 1, "postcard": 1, "critic": 1}


async def test_reasoning_that_no_answer_came_of_is_counted(tmp_path: Path) -> None:
    def thinking(name: str, parent: str) -> dict[str, Any]:
        content = {"content_type": "thoughts", "thoughts": [{"summary": "It is hard", "content": ""}]}
        return chatgpt_node(name, parent, "assistant", content=content)

    again = chatgpt_node("q2", "t", "user", "Again.")
    answer = chatgpt_node("a", "t2", "assistant", "Done.")
    conversation, report = await imported(
        tmp_path,
        chatgpt_entry("x", QUESTION, thinking("t", "q"), again, thinking("t2", "q2"), answer, thinking("t3", "a")),
    )
    assert [each.reasoning for each in conversation.messages] == [None, None, "It is hard"]
    assert counted(report) == {"thoughts": 2}


async def test_a_gap_in_the_row_of_shards_is_told(tmp_path: Path) -> None:
    export = tmp_path / "export"
    export.mkdir()
    answer = chatgpt_node("a", "q", "assistant", "Done.")
    for number in (0, 1, 4):
        put_json(export / f"conversations-00{number}.json", [chatgpt_entry(f"c{number}", QUESTION, answer)])
    report = await bring_in(export, tmp_path)
    assert report.counts["imported"] == 3
    assert [(problem.place, problem.reason) for problem in report.problems] == [
        ("conversations-004.json", "has a gap before it: what comes after conversations-001.json is missing")
    ]


async def test_the_archives_of_a_folder_are_read(tmp_path: Path) -> None:
    report = await bring_in(CASES / "claude-zips" / "download", tmp_path)
    assert [conversation.title for conversation in await stored_in(tmp_path)] == ["Roots", "Roots"]
    assert counted(report) == {"other branches": 4}


async def test_archives_and_files_of_a_folder_are_one_export(tmp_path: Path) -> None:
    download = tmp_path / "download"
    shutil.copytree(CASES / "claude-zips" / "download", download)
    with zipfile.ZipFile(download / "conversations-000.zip") as archive:
        archive.extract("conversations.json", download)
    (download / "cut.zip").write_bytes((download / "conversations-001.zip").read_bytes()[:-40])
    with zipfile.ZipFile(download / "outer.zip", "w") as outer:
        outer.write(download / "conversations-001.zip", "inner.zip")
    report = await bring_in(download, tmp_path)
    assert (report.counts["imported"], report.counts["unchanged"]) == (2, 1)
    assert sorted(f"{problem.place} {problem.reason}" for problem in report.problems) == [
        "cut.zip is not a readable archive, perhaps cut off",
        "outer.zip/inner.zip is an archive in an archive; unpack the outer one",
    ]


async def test_an_archive_of_a_folder_that_is_a_bomb_is_not_read_and_the_others_are(tmp_path: Path) -> None:
    download = tmp_path / "download"
    shutil.copytree(CASES / "claude-zips" / "download", download)
    with zipfile.ZipFile(download / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        for number in range(3):
            bomb.writestr(f"conversations-{number}.json", b"[" + b" " * 10_000_000 + b"]")
    report = await bring_in(download, tmp_path)
    assert report.counts == {"imported": 2, "problem": 1}
    assert "unpacks to more than 200 times its size" in report.problems[0].reason


async def test_conversations_in_one_object_are_read_as_those_of_a_list(tmp_path: Path) -> None:
    answer = chatgpt_node("a", "q", "assistant", "Done.")
    data = {"conversations": [chatgpt_entry("x", QUESTION, answer), None, chatgpt_entry("y", QUESTION, answer)]}
    report = await bring_in(put_json(tmp_path / "conversations.json", data), tmp_path)
    assert report.counts == {"imported": 2, "problem": 1}
