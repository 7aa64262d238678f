"""The commands that put conversations in order, as scripts call them."""

import json
import re
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict, IsStr
from inline_snapshot import snapshot
from tests.fixtures.cli import Ended, Here, anonymous, answered, on_terminal, put_conversation
from tests.fixtures.folders import ID
from tests.fixtures.homes import Home

OTHER = "20260131-1769817600001"
THIRD = "20260131-1769817600002"
LATER = "2026-02-01T00:00:00.000Z"
NOW = "2999-01-01T00:00:00.000Z"
PENDING = {"question": "Well?", "status": "interrupted"}


@pytest.fixture
def on_files(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def ids_of(ended: Ended) -> list[str]:
    return [line.split("\t")[0] for line in ended.out.splitlines()]


def test_last_means_the_same_conversation_when_it_is_put_away_and_brought_back(here: Here, home: Home) -> None:
    home.put(answered(OTHER, updatedAt=LATER))
    home.put(answered(THIRD, title="The third one"))
    assert here("archive", "last").out == f"{OTHER}  archived\n"
    assert here("archive", "last", "--undo").out == f"{OTHER}  not archived\n"
    assert here("archive", "last", "last").out == f"{OTHER}  archived\n"
    assert here("archive", "/third").out == f"{THIRD}  archived\n"
    assert here("archive", "--undo", "/third").out == f"{THIRD}  not archived\n"
    assert here("archive", "--undo", "last").out == f"{OTHER}  not archived\n"
    ended = here("archive", "--undo", "last")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("CONVERSATION_NOT_FOUND: there are no archived conversations in ")


def test_a_branch_is_made_and_the_next_question_is_named(here: Here, home: Home) -> None:
    home.put(answered(ID))
    before = home.body(ID)
    ended = here("branch", "last", "3")
    assert ended.code == 0
    assert anonymous(ended.out + ended.err) == snapshot("""\
20260131-1769817600000  branched from 20260131-1769817600000 after message 3
Follow up with:  conversation-mcp ask -c 20260131-1769817600000 "…"
""")
    new = ended.out.split()[0]
    assert home.stored(new)["parent"] == {"conversationId": ID, "messageCount": 3}
    assert home.body(ID) == before
    assert json.loads(here("branch", ID, "1", "--json").out) == IsPartialDict(messageCount=1, title="(empty)")


@pytest.mark.parametrize("roles", ["suaua", "uaua", "sdua", "ustaua"])
def test_the_numbers_that_are_shown_are_those_that_a_branch_takes(here: Here, home: Home, roles: str) -> None:
    kinds = {"s": "system", "d": "developer", "u": "user", "a": "assistant", "t": "tool"}
    said = [{"role": kinds[role], "content": f"text {number}"} for number, role in enumerate(roles, 1)]
    home.put(answered(ID, messages=said))
    numbers = re.findall(r"^\*\*Answer\*\* · #([0-9]+)", here("show", ID, "--raw").out, re.MULTILINE)
    assert len(numbers) == roles.count("a")
    for number in numbers:
        new = here("branch", ID, number).out.split()[0]
        assert home.stored(new)["messages"][-1] == IsPartialDict(role="assistant", content=f"text {number}")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("branch", ID, "2"), "NUMBER must be 1 or 3: message 2 is a question, and a branch ends at an answer."),
        (("branch", ID, "0"), f"NUMBER must be 1: {ID} has messages 1 to 3."),
        (("branch", ID, "-1"), "No such option: -1"),
        (("branch", ID, "x"), "'NUMBER': must be a whole number; got 'x'."),
        (("rename", ID, "x" * 201), "title must be at most 200 characters long; got 201."),
        (("tag", ID, "x" * 51), "a tag must be at most 50 characters long; got 51."),
        (("tag", ID, "--remove"), "--remove needs the tags to remove."),
        (("delete", ID, "--yes"), "--yes goes with --for-good."),
        (("delete", ID, "--for-good"), "there is no terminal to ask on; add --yes to delete for good."),
        (("trash", "--json", "empty"), "options of trash empty belong after it."),
        (("prune",), "no age is given: add --older-than, or set CONVERSATION_TIMEOUT_HOURS."),
        (("prune", "--older-than", "90"), "--older-than must be an age such as 36h, 90d, 12w or 2y; got '90'."),
        (("prune", "--older-than", "0d"), "--older-than must be an age such as 36h, 90d, 12w or 2y; got '0d'."),
        (("prune", "--older-than", "-1d"), "--older-than must be an age such as 36h, 90d, 12w or 2y; got '-1d'."),
        (("archive", "yesterday"), "ID must look like"),
    ],
    ids=str,
)
def test_wrong_usage_changes_nothing(here: Here, home: Home, arguments: tuple[str, ...], problem: str) -> None:
    home.put(answered(ID))
    before = home.body(ID)
    ended = here(*arguments)
    assert ended.code == 2
    assert ended.out == "" or "--json" in arguments
    assert problem in ended.err
    assert home.body(ID) == before
    assert home.ids() == [ID]


@pytest.mark.parametrize(
    "arguments", [("branch", OTHER, "3"), ("rename", OTHER, "x"), ("tag", OTHER, "x"), ("archive", OTHER)], ids=str
)
def test_an_unknown_conversation_is_not_found(here: Here, arguments: tuple[str, ...]) -> None:
    ended = here(*arguments)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"CONVERSATION_NOT_FOUND: no conversation {OTHER} in ")


def test_a_title_is_set_and_taken_away(here: Here, home: Home) -> None:
    home.put(answered(ID))
    assert here("rename", "last", " A  title ").out == f"{ID}  is called: A title\n"
    assert home.stored(ID)["title"] == "A title"
    assert json.loads(here("rename", "last", "", "--json").out) == IsPartialDict(title="What is a B-tree?")
    assert "title" not in home.stored(ID)


def test_tags_are_added_removed_and_shown(here: Here, home: Home) -> None:
    home.put(answered(ID))
    assert here("tag", ID).out == f"{ID}  no tags\n"
    assert here("tag", ID, "rust", "B tree", "Rust").out == f"{ID}  tags: rust, B tree\n"
    assert here("tag", ID, "日本").out == f"{ID}  tags: rust, B tree, 日本\n"
    assert here("tag", ID, "--remove", "RUST", " b  tree", "none").out == f"{ID}  tags: 日本\n"
    assert json.loads(here("tag", ID, "--json").out)["tags"] == ["日本"]
    assert here("tag", ID, "日本", "--remove").out == f"{ID}  no tags\n"
    assert "tags" not in home.stored(ID)


def test_several_are_archived_and_one_that_fails_keeps_nothing_from_the_others(here: Here, home: Home) -> None:
    home.put(answered(ID))
    home.put(answered(THIRD))
    ended = here("archive", ID, OTHER, THIRD, ID)
    assert (ended.code, ended.out) == (1, f"{ID}  archived\n{THIRD}  archived\n")
    assert ended.err.startswith(f"CONVERSATION_NOT_FOUND: no conversation {OTHER}")
    assert home.stored(ID)["archived"] is True
    undone = json.loads(here("archive", ID, OTHER, "--undo", "--json").out)
    assert [one["conversationId"] for one in undone["conversations"]] == [ID]
    assert undone["problems"] == [IsStr(regex="CONVERSATION_NOT_FOUND.*")]
    assert "archived" not in home.stored(ID)


def test_deleted_conversations_are_listed_in_the_trash_and_come_back(on_files: Here, tmp_path: Path) -> None:
    before = put_conversation(tmp_path, ID, title="Mine").read_bytes()
    put_conversation(tmp_path, OTHER).write_text("{")
    ended = on_files("delete", ID, OTHER)
    assert anonymous(ended.out + ended.err) == snapshot("""\
20260131-1769817600000  in the trash: Mine
20260131-1769817600000  in the trash: (cannot be read)
Bring back with:  conversation-mcp trash restore 20260131-1769817600000
""")
    assert on_files("list").out == ""
    assert anonymous(on_files("trash").out).count("20260131-1769817600000\t2026-01-31T00:00:00.000Z\t") == 2
    listed = json.loads(on_files("trash", "--json").out)["conversations"]
    assert listed[1] == IsPartialDict(conversationId=ID, title="Mine", messageCount=3)
    assert listed[0] == IsPartialDict(conversationId=OTHER, problem=IsStr(regex=".*is not valid JSON.*"))
    assert on_files("trash", "restore", ID[:20]).code == 2
    assert on_files("trash", "restore", ID, ID).out == f"{ID}  restored: Mine\n"
    assert (tmp_path / "conversation-logs" / ID / "conversation.json").read_bytes() == before
    assert on_files("trash", "restore", "last").out == f"{OTHER}  restored: (cannot be read)\n"
    again = on_files("trash", "restore", ID)
    assert (again.code, again.err) == (1, f"CONVERSATION_NOT_FOUND: no conversation {ID} in the trash. Check the id.\n")


def test_nothing_is_restored_over_a_conversation(here: Here, home: Home) -> None:
    home.put(answered(ID, title="Old"))
    here("delete", ID)
    home.put(answered(ID, title="New"))
    ended = here("trash", "restore", ID)
    assert (ended.code, ended.out) == (1, "")
    assert "there is a conversation already. Nothing was changed. Delete the one that is there now" in ended.err
    assert home.stored(ID)["title"] == "New"
    here("delete", ID)
    assert here("trash", "restore", ID).out == f"{ID}  restored: New\n"
    assert json.loads(here("trash", "--json").out)["conversations"] == [IsPartialDict(title="Old")]


def test_the_trash_is_emptied_of_all_or_of_one(here: Here, home: Home) -> None:
    for number, conversation_id in enumerate((ID, OTHER, THIRD)):
        home.put(answered(conversation_id, title=str(number)))
    here("delete", ID, OTHER, THIRD)
    assert here("trash", "empty").code == 2
    assert here("trash", "empty", OTHER, "--yes").out == f"{OTHER}  deleted for good: 1\n"
    assert ids_of(here("trash")) == [THIRD, ID]
    emptied = json.loads(here("trash", "empty", "--yes", "--json").out)
    assert [one["conversationId"] for one in emptied["conversations"]] == [THIRD, ID]
    ended = here("trash", "empty")
    assert (ended.code, ended.out, ended.err) == (0, "", "The trash is empty.\n")
    assert here("trash", "empty", ID, "--yes").code == 1


def test_old_conversations_are_shown_and_with_apply_moved_and_archived(
    on_files: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_conversation(tmp_path, "20260131-1769817600003", updatedAt=NOW)
    put_conversation(tmp_path, "20260131-1769817600004", tags=["keep"])
    put_conversation(tmp_path, "20260131-1769817600005", pendingTurn=PENDING)
    put_conversation(tmp_path, ID, title="Old")
    put_conversation(tmp_path, OTHER, title="Archived", archived=True)
    put_conversation(tmp_path, THIRD).write_text("{")
    before = {path.name for path in (tmp_path / "conversation-logs").iterdir()}
    ended = on_files("prune", "--older-than", "90d")
    assert (ended.code, ended.out) == (
        0,
        snapshot("""\
trash	20260131-1769817600000	2026-01-31T00:00:00.000Z	Old
trash	20260131-1769817600001	2026-01-31T00:00:00.000Z	Archived
"""),
    )
    assert anonymous(ended.err.splitlines()[-1]) == snapshot(
        "2 to the trash; 0 to archive; 2 kept, with tags or a question without an answer. Do it with --apply."
    )
    assert {path.name for path in (tmp_path / "conversation-logs").iterdir()} == before
    monkeypatch.setenv("CONVERSATION_TIMEOUT_HOURS", "24")
    both = json.loads(on_files("prune", "--older-than", "200y", "--json").out)
    assert both == IsPartialDict(applied=False, keptCount=2, unreadableCount=1)
    assert [(one["action"], one["conversationId"]) for one in both["conversations"]] == [("archive", ID)]
    assert on_files("prune", "--apply").out == f"archived\t{ID}\t2026-01-31T00:00:00.000Z\tOld\n"
    assert json.loads((tmp_path / "conversation-logs" / ID / "conversation.json").read_bytes())["archived"] is True
    monkeypatch.delenv("CONVERSATION_TIMEOUT_HOURS")
    done = json.loads(on_files("prune", "--older-than", "1h", "--apply", "--json").out)
    assert [(one["outcome"], one["conversationId"]) for one in done["conversations"]] == [("in the trash", OTHER)]
    assert ids_of(on_files("trash")) == [OTHER]


@pytest.mark.slow
def test_the_trash_on_a_terminal_is_a_table(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="A \x1b[31mtitle")
    asked = on_terminal(tmp_path, "delete", ID)
    assert asked.code == 0
    assert anonymous(on_terminal(tmp_path, "trash").out) == snapshot("""\
deleted   title        id
just now  A [31mtitle  20260131-1769817600000\
""")
