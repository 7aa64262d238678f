"""What Claude's site makes beside its words: artifacts, citations, blocks that nobody knows."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.exports.imported import said_in
from tests.fixtures.exports.sites import claude_entry, claude_message
from tests.fixtures.web_exports import case, counted, imported, said


async def test_an_artifact_is_in_the_answer(tmp_path: Path) -> None:
    conversation, report = await case(tmp_path, "claude-artifact/conversations.json")
    assert said(conversation)[1] == (
        "I'll draft it.\n\nLetter to the landlord:\n\n```\nDear Ms Example,\n\nthe heating has failed since Monday.\n```"
    )
    assert counted(report) == {"tool artifacts": 1}


async def test_a_file_that_was_all_of_an_answer_is_the_answer(tmp_path: Path) -> None:
    conversation, _ = await case(tmp_path, "claude-artifact/toolonly.json")
    assert said_in(conversation) == (
        ("user", "Make the file."),
        ("assistant", "plan.md:\n\n```\n# Plan\n\nDig, then plant.\n```"),
        ("user", "Is it done?"),
        ("assistant", "Yes, plan.md is there."),
    )


@pytest.mark.parametrize("given", [json.dumps({"id": "a", "title": "Song", "content": "La la."}), {}])
async def test_arguments_of_a_call_may_be_json_text(tmp_path: Path, given: object) -> None:
    part = json.dumps({"id": "a", "title": "Song", "content": "La la."})
    blocks = [{"type": "tool_use", "name": "artifacts", "input": given, "partial_json": part}]
    conversation, report = await imported(
        tmp_path, claude_entry("x", claude_message("m1", "human", "Sing."), claude_message("m2", "assistant", "", content=blocks))
    )  # fmt: skip
    assert said(conversation)[1] == "Song:\n\n```\nLa la.\n```"
    assert counted(report) == {}


async def test_a_call_that_failed_writes_nothing(tmp_path: Path) -> None:
    blocks = [
        called("create_file", path="/a.md", file_text="Never written.") | {"id": "t1"},
        {"type": "tool_result", "name": "create_file", "tool_use_id": "t1", "is_error": True, "content": "no space"},
        {"type": "text", "text": "It failed."},
    ]
    conversation, report = await imported(
        tmp_path, claude_entry("x", claude_message("m1", "human", "Write."), claude_message("m2", "assistant", "", content=blocks))
    )  # fmt: skip
    assert said(conversation)[1] == "It failed."
    assert counted(report) == {"tool create_file": 2}


TAGGED = '<antThinking>A song.</antThinking>\n\nHere:\n\n<antArtifact identifier="a" title="Song">\nLa la.\n</antArtifact>\n\nDone.'


@pytest.mark.parametrize("blocks", [True, False])
async def test_artifacts_and_reasoning_in_tags_of_older_answers(tmp_path: Path, blocks: bool) -> None:
    facts: dict[str, Any] = {} if blocks else {"content": []}
    answer = claude_message("m2", "assistant", TAGGED, **facts)
    conversation, _ = await imported(tmp_path, claude_entry("x", claude_message("m1", "human", TAGGED), answer))
    assert said(conversation) == [TAGGED, "Here:\n\nSong:\n\n```\nLa la.\n```\n\nDone."]
    assert conversation.messages[1].reasoning == "A song."


async def test_an_answer_about_such_tags_stays_as_it_came(tmp_path: Path) -> None:
    answer = f"Write `<antThinking>x</antThinking>`, or:\n\n```xml\n{TAGGED}\n```"
    conversation, _ = await imported(
        tmp_path, claude_entry("x", claude_message("m1", "human", "How?"), claude_message("m2", "assistant", answer))
    )
    assert said(conversation)[1] == answer


def called(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


async def test_an_artifact_that_is_changed_later_stands_in_each_answer_as_it_was_then(tmp_path: Path) -> None:
    first = [
        called("artifacts", id="a", command="create", title="Song", content="La la."),
        called("bash_tool", command="ls -l"),
    ]
    second = [
        called("artifacts", id="a", command="update", old_str="La la.", new_str="Lo lo."),
        called("artifacts", id="a", command="update", old_str="nowhere", new_str="An end."),
        called("artifacts", id="a", command="insert", insert_line=1, new_str="Li li."),
        called("artifacts", id="a", command="update"),
    ]
    conversation, report = await imported(
        tmp_path,
        claude_entry(
            "x",
            claude_message("m1", "human", "Sing."),
            claude_message("m2", "assistant", "", content=first),
            claude_message("m3", "human", "Better."),
            claude_message("m4", "assistant", "", content=second),
            claude_message("m5", "human", "Only look."),
            claude_message("m6", "assistant", "", content=[called("view", path="/song"), called("str_replace", path="/b", old_str="x", new_str="y")]),
        ),
    )  # fmt: skip
    assert said(conversation)[1::2] == [
        "Song:\n\n```\nLa la.\n```",
        "Song:\n\n```\nLo lo.\nLi li.\n```\n\nSong, changed:\n\n```\nAn end.\n```",
        "(nothing was said here; tools that were called: view, str_replace)",
    ]
    assert counted(report) == {"tool artifacts": 1, "tool bash_tool": 1, "tool view": 1, "tool str_replace": 1}


async def test_blocks_that_only_citations_cut_are_one_sentence_with_numbered_sources(tmp_path: Path) -> None:
    conversation, report = await case(tmp_path, "claude-citations/conversations.json")
    assert said(conversation)[1] == "The museum opens at ten[1], except on Mondays."
    assert [(each.id, each.title, each.url) for each in conversation.messages[1].sources or ()] == [
        (1, "Opening hours", "https://museum.example/hours")
    ]
    assert counted(report) == {"tool web_search": 2}


async def test_citations_stand_behind_what_they_are_for(tmp_path: Path) -> None:
    citations = [
        {"end_index": 3, "url": "https://b.example"},
        {"end_index": 3, "details": {"url": "https://a.example", "title": "A"}},
        {"end_index": 99, "details": {"url": "https://b.example"}},
        {"details": {"type": "page_of_a_book"}},
    ]
    blocks = [{"type": "text", "text": "One, two.", "citations": citations}, {"type": "text", "text": "Three."}]
    conversation, report = await imported(
        tmp_path,
        claude_entry(
            "x", claude_message("m1", "human", "Count."), claude_message("m2", "assistant", "", content=blocks)
        ),
    )
    assert said(conversation)[1] == "One[1][2], two.[1]Three."
    assert counted(report) == {"citation marks": 1}


async def test_blocks_that_nobody_knows_and_summaries_are_counted_by_their_names(tmp_path: Path) -> None:
    hidden = {"type": "injected_prompt_block", "text": "Always be nice.", "start_timestamp": None}
    note = {"type": "voice_note", "title": "Note", "text": "Buy milk."}
    entry = claude_entry(
        "x",
        claude_message("m1", "human", "", content=[hidden, note, {"type": "token_budget"}]),
        claude_message("m2", "assistant", "Yes."),
        claude_message("m3", "system", "Be good."),
        summary="They spoke of milk.",
    )
    conversation, report = await imported(tmp_path, entry)
    assert said(conversation) == ["Buy milk.", "Yes."]
    assert counted(report) == {"injected_prompt_block": 1, "summary": 1, "system": 1}


async def test_a_record_that_nobody_knows_at_the_end_is_counted_and_no_branch(tmp_path: Path) -> None:
    unknown = {"type": "novel", "text": "Some words."}
    turns = (claude_message("m1", "human", "Hi", "r"), claude_message("m2", "assistant", "Hello.", "m1"))
    conversation, report = await imported(tmp_path, claude_entry("x", unknown, *turns, unknown | {"uuid": "n"}))
    assert (said(conversation), counted(report)) == (["Hi", "Hello."], {"novel": 2})


async def test_a_message_of_a_tree_that_names_no_parent_follows_the_one_before(tmp_path: Path) -> None:
    turns = [claude_message("m1", "human", "Hi", "r"), claude_message("m2", "assistant", "Hello.", "m1")]
    later = [claude_message("m3", "human", "And?"), claude_message("m4", "assistant", "So.", "m3")]
    conversation, _ = await imported(tmp_path, claude_entry("x", *turns, *later))
    assert said(conversation) == ["Hi", "Hello.", "And?", "So."]


async def test_the_leaf_that_the_export_names_ends_the_conversation(tmp_path: Path) -> None:
    root = "00000000-0000-4000-8000-000000000000"
    messages = (
        claude_message("m4", "assistant", "Gazpacho.", parent_message_uuid="m3"),
        claude_message("m1", "human", "A soup?", parent_message_uuid=root),
        claude_message("m2", "assistant", "Leek.", parent_message_uuid="m1"),
        claude_message("m3", "human", "A cold one?", parent_message_uuid="m2"),
    )
    (tmp_path / "all").mkdir()
    conversation, report = await imported(tmp_path / "all", claude_entry("x", *messages))
    assert said(conversation) == ["A soup?", "Leek.", "A cold one?", "Gazpacho."]
    assert counted(report) == {}
    (tmp_path / "two").mkdir()
    conversation, _ = await imported(tmp_path / "two", claude_entry("x", *messages, current_leaf_message_uuid="m2"))
    assert said(conversation) == ["A soup?", "Leek."]


async def test_a_message_whose_parent_is_missing_follows_the_one_before(tmp_path: Path) -> None:
    conversation, report = await imported(
        tmp_path,
        claude_entry(
            "x",
            claude_message("m1", "human", "Ping?", parent_message_uuid="gone"),
            claude_message("m2", "assistant", "Pong.", parent_message_uuid="m1"),
            claude_message("m3", "human", "Again?", parent_message_uuid="lost"),
            claude_message("m4", "assistant", "Pong again.", parent_message_uuid="m3"),
        ),
    )
    assert said(conversation) == ["Ping?", "Pong.", "Again?", "Pong again."]
    assert counted(report) == {}


async def test_messages_with_one_id_are_told_apart_and_a_repeated_one_is_one(tmp_path: Path) -> None:
    asked, answer = claude_message("m1", "human", "Ping?"), claude_message("m1", "assistant", "Pong.")
    conversation, _ = await imported(tmp_path, claude_entry("x", asked, asked, answer))
    assert said(conversation) == ["Ping?", "Pong."]


async def test_an_answer_that_was_only_thought_says_so(tmp_path: Path) -> None:
    thought = {"type": "thinking", "thinking": "", "summaries": [{"summary": "Weighed it."}]}
    conversation, _ = await imported(
        tmp_path,
        claude_entry(
            "x",
            claude_message("m1", "human", "Ping?"),
            claude_message("m2", "assistant", "", content=[thought]),
            claude_message("m3", "human", "Well?"),
            claude_message("m4", "assistant", "Pong."),
        ),
    )
    assert said(conversation)[1] == "(nothing was said here, only thought)"
    assert conversation.messages[1].reasoning == "Weighed it."


async def test_a_file_in_several_lists_is_named_once(tmp_path: Path) -> None:
    files: dict[str, Any] = {
        "files": [{"file_name": "map.png"}],
        "files_v2": [{"file_name": "map.png"}, {"file_name": "b.pdf"}],
    }
    conversation, report = await imported(
        tmp_path, claude_entry("x", claude_message("m1", "human", "See.", **files), claude_message("m2", "assistant", "Yes."))
    )  # fmt: skip
    assert conversation.messages[0].notices == (
        "attachment not imported: map.png",
        "attachment not imported: b.pdf",
    )
    assert counted(report) == {"attachments": 2}


async def test_a_citation_of_several_pages_names_them_all(tmp_path: Path) -> None:
    group = {"details": {"sources": [{"url": "https://a.example", "title": "A"}, {"url": "https://b.example"}]}}
    blocks = [{"type": "text", "text": "It opens at ten.", "citations": [group]}]
    conversation, _ = await imported(
        tmp_path, claude_entry("x", claude_message("m1", "human", "When?"), claude_message("m2", "assistant", "", content=blocks))
    )  # fmt: skip
    assert said(conversation)[1] == "It opens at ten.[1][2]"
