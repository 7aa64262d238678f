"""What Claude's site makes beside its words: artifacts, citations, blocks that nobody knows."""

from pathlib import Path
from typing import Any

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
        "Song:\n\n```\nLo lo.\n```\n\nSong, changed:\n\n```\nAn end.\n```",
        "(nothing was said here; tools that were called: view, str_replace)",
    ]
    assert counted(report) == {"tool bash_tool": 1, "tool view": 1, "tool str_replace": 1}


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
