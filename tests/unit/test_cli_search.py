"""Conversations found by words, by what is known of them, and a page after the other."""

import json
import os
import shutil
from pathlib import Path

import pytest
from dirty_equals import IsPartialDict, IsStr
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, answered, put_conversation
from tests.fixtures.folders import ID, abandoned
from tests.fixtures.homes import Home

from conversation_mcp.conversations.phrases import notices_of
from conversation_mcp.stores.files.finder import READ_AT_ONCE
from conversation_mcp.stores.files.newest import newest
from conversation_mcp.stores.files.vault import PlainVault

OTHER, THIRD = "20260201-1769904000000", "20260202-1769990400000"


@pytest.fixture
def on_files(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    return Here(capsys, monkeypatch, tmp_path)


def question(text: str, **facts: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "So.", **facts}]}


def ids_of(out: str) -> list[str]:
    return [line.partition("\t")[0] for line in out.splitlines()]


def test_a_pipe_gets_the_line_of_a_list_then_the_message_and_the_place(here: Here, home: Home) -> None:
    home.put(answered(ID))
    assert here("search", "b-tree").out == here("list").out.rstrip("\n") + "\t2\tWhat is a B-tree?\n"
    home.put(answered(OTHER, title="Only the title has heaps"))
    assert here("search", "heap").out.endswith("\tOnly the title has heaps\t\t\t\tOnly the title has heaps\n")


def test_json_has_the_number_and_the_words_that_were_found(here: Here, home: Home) -> None:
    home.put(answered(ID))
    found = json.loads(here("search", "balanced", "--json").out)
    assert found["conversations"] == [
        IsPartialDict(conversationId=ID, messageNumber=3, snippet="A **balanced** tree [1].")
    ]
    assert found["unreadableCount"] == 0


def test_nothing_found_is_said_and_fails(here: Here, home: Home) -> None:
    home.put(answered(ID))
    none = here("search", "heap")
    assert (none.code, none.out, none.err) == (1, "", "Nothing was found.\n")
    assert json.loads(here("search", "heap", "--json").out) == {"conversations": [], "unreadableCount": 0}
    assert here("search", "?!").err == "Notice: the query has no word to search for.\nNothing was found.\n"


@pytest.mark.parametrize(
    "words",
    [
        "会话历史怎么保存",
        "ติดตั้ง",
        "CAFE",
        "conversation_history",
        "UserName",
        "path.join",
        "src/app",
        '"the phrase"',
        "begi*",
    ],
)
def test_words_of_any_script_are_found(here: Here, home: Home, words: str) -> None:
    text = "会话保存 วิธีติดตั้ง café get_conversation_history getUserName os.path.join src/app/main.py the phrase beginning"
    home.put(answered(ID, **question(text)))
    home.put(answered(OTHER, **question("something else")))
    assert ids_of(here("search", words).out) == [ID]


@pytest.mark.parametrize(
    "words", ["AND", "NEAR(a b)", '"', "a OR", "-x", "*", "x" * 10_000, "a:b ^c {d}", "\udcff", "'"]
)
def test_whatever_is_typed_is_data(here: Here, home: Home, words: str) -> None:
    home.put(answered(ID))
    ended = here("search", "--", words)
    assert (ended.code, ended.err) in [(0, ""), (1, "Nothing was found.\n"), (1, IsStr(regex="(?s)Notice: .*"))]


def test_what_was_edited_deleted_or_restored_by_hand_is_seen_at_once(on_files: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, **question("apples?"))
    gone = put_conversation(tmp_path, OTHER, **question("apples and pears?"))
    assert ids_of(on_files("search", "pears").out) == [OTHER]
    put_conversation(tmp_path, ID, **question("plums?"))
    body = gone.read_bytes()
    gone.unlink()
    assert on_files("search", "apples").code == on_files("search", "pears").code == 1
    assert ids_of(on_files("search", "plums").out) == [ID]
    gone.write_bytes(body)
    assert ids_of(on_files("search", "apples").out) == [OTHER]


@pytest.mark.parametrize("damage", [b"", b"garbage" * 999, None])
def test_an_index_that_is_damaged_or_deleted_is_made_again(
    on_files: Here, tmp_path: Path, damage: bytes | None
) -> None:
    put_conversation(tmp_path, ID)
    assert ids_of(on_files("search", "tree").out) == [ID]
    (path,) = Path(os.environ["XDG_CACHE_HOME"]).rglob("index.db")
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage)
    assert ids_of(on_files("search", "tree").out) == [ID]
    assert ids_of(on_files("list", "--tool", "search").out) == [ID]


def test_every_filter_narrows_lists_and_searches(here: Here, home: Home) -> None:
    home.put(answered(ID, tags=["Work", "trees"]))
    asked = question("tree?", provider="perplexity", model="openai/gpt-6-luna", preset="fast")
    home.put(answered(OTHER, updatedAt="2026-02-01T00:00:00Z", **asked))
    home.put(answered(THIRD, archived=True, updatedAt="2026-02-02T00:00:00Z"))
    for filters, expected in (
        ([], [OTHER, ID]),
        (["--tag", "work"], [ID]),
        (["--tag", "work", "--tag", "trees"], [ID]),
        (["--tag", "work", "--tag", "none"], []),
        (["--tool", "search"], [ID]),
        (["--provider", "Perplexity"], [OTHER]),
        (["--model", "gpt-6-luna"], [OTHER]),
        (["--model", "fast", "--provider", "perplexity"], [OTHER]),
        (["--archived"], [THIRD]),
        (["--state", "archived"], [THIRD]),
        (["--after", "2026-02-01"], [OTHER]),
        (["--before", "2026-02-01T00:00:00Z"], [ID]),
        (["--state", "failed"], []),
    ):
        assert ids_of(here("list", *filters).out) == expected, filters
        assert sorted(ids_of(here("search", "tree", *filters).out)) == sorted(expected), filters


def test_archived_conversations_are_hidden_from_the_quick_list_and_from_last(here: Here, home: Home) -> None:
    home.put(answered(ID, title="In sight"))
    home.put(answered(OTHER, updatedAt="2026-02-01T00:00:00Z", archived=True))
    assert ids_of(here("list").out) == [ID]
    assert here("show", "last").out.startswith("# In sight\n")


def test_a_question_that_nobody_works_on_any_more_was_interrupted(here: Here, home: Home) -> None:
    home.put(abandoned())
    for command in (["list"], ["list", "--state", "interrupted"], ["search", "one"]):
        assert here(*command).out.split("\t")[4] == "interrupted"
    assert here("list", "--state", "running").out == ""


@pytest.mark.parametrize("command", [["list"], ["search", "tree"], ["list", "--tool", "search"]])
def test_pages_show_each_conversation_once(here: Here, home: Home, command: list[str]) -> None:
    names = [f"20260131-{number:013}" for number in range(7)]
    for name in names:
        home.put(answered(name))
    seen: list[str] = []
    cursor: list[str] = []
    while True:
        page = json.loads(here(*command, "--json", "--limit", "3", *cursor).out)
        seen += [row["conversationId"] for row in page["conversations"]]
        if "nextCursor" not in page:
            break
        cursor = ["--cursor", page["nextCursor"]]
    assert seen == sorted(names, reverse=True)


def test_a_cursor_that_is_none_is_refused(here: Here) -> None:
    ended = here("list", "--cursor", "x")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("VALIDATION_ERROR: --cursor must be the nextCursor")


@pytest.mark.slow
def test_a_long_list_comes_from_the_index_and_reads_like_one_from_the_files(on_files: Here, tmp_path: Path) -> None:
    for number in range(READ_AT_ONCE + 10):
        put_conversation(tmp_path, f"20260131-{number:013}", archived=number % 10 == 0)
    put_conversation(tmp_path, ID).write_text("{", encoding="utf-8")
    folder = tmp_path / "conversation-logs"
    from_files = newest(folder, PlainVault(folder))
    first = on_files("list", "--limit", "5")
    assert "not all conversations yet" in on_files("index").out
    everything = on_files("list")
    assert f"{READ_AT_ONCE + 11:,} conversations" in on_files("index").out
    assert ids_of(everything.out) == [found.conversation_id for found in from_files.found]
    assert on_files("list", "--limit", "5") == first
    assert first.out == "".join(everything.out.splitlines(keepends=True)[:5])
    assert first.err == everything.err == f"Notice: {next(notices_of(from_files))}.\n"
    assert len(json.loads(on_files("list", "--json").out)["conversations"]) == len(from_files.found)
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "conversation-mcp"
    shutil.rmtree(cache)
    cache.write_text("no index can be made here", encoding="utf-8")
    without = on_files("list")
    assert without.out == everything.out
    assert without.err.startswith("Notice: no index is kept, so the files are read (")
    assert ids_of(on_files("search", "tree", "--limit", "1").out) == ids_of(first.out)[:1]
    rebuilt = on_files("index", "--rebuild")
    assert (rebuilt.code, rebuilt.out) == (1, "")
    assert rebuilt.err.startswith("FILESYSTEM_ERROR: no index can be kept: ")


def test_the_shape_of_a_json_list_does_not_depend_on_its_length(on_files: Here, tmp_path: Path) -> None:
    assert on_files("list", "--json").out == snapshot("""\
{
  "conversations": [],
  "unreadableCount": 0
}
""")
    put_conversation(tmp_path, ID).write_text("{")
    assert on_files("list", "--json").out.replace(str(tmp_path), "FOLDER") == snapshot("""\
{
  "conversations": [],
  "unreadableCount": 1,
  "notices": [
    "a conversation that cannot be read was skipped: FOLDER/conversation-logs/20260131-1769817600000/conversation.json is not valid JSON at line 1, column 2 (byte 2)"
  ]
}
""")
