"""Conversations brought in by the command, looked at, killed in the middle, and followed up."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import PROGRAM, Here, clean_environment, on_terminal
from tests.fixtures.exports.files import put_json
from tests.fixtures.exports.imported import bring_in
from tests.fixtures.exports.own import own_data
from tests.fixtures.exports.samples import SAMPLES
from tests.fixtures.exports.sites import TREE_SAID, chatgpt_entry, chatgpt_node
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, serving
from tests.fixtures.stores import small_disk

PING = (chatgpt_node("a", None, "user", "Ping?"), chatgpt_node("b", "a", "assistant", "Pong."))


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.chdir(tmp_path)
    return Here(capsys, monkeypatch, tmp_path)


def stored(folder: Path) -> list[dict[str, object]]:
    return [
        json.loads(path.read_bytes()) for path in sorted((folder / "conversation-logs").glob("*/conversation.json"))
    ]


def test_an_export_comes_in_with_a_count_of_everything(here: Here, tmp_path: Path) -> None:
    source = SAMPLES["chatgpt"].write(tmp_path)
    put_json(source / "conversations-002.json", [None, chatgpt_entry("empty"), *([{}] * 25)])
    done = here("import", str(source))
    assert done.code == 1
    assert done.out.replace(str(tmp_path), "~") == snapshot("""\
ChatGPT's export, to ~/conversation-logs
        2  imported
        1  without messages
       26  skipped
Left out: attachments (1), other branches (2), tool browser (1), tool without a name (1), user_editable_context (1).
--all-branches imports the other branches, too.
2 other files were not read: chat.html, user.json
""")
    assert done.err.splitlines()[:2] == snapshot(
        [
            "conversations-002.json, entry 1 (byte 2): is null, not a conversation",
            "conversations-002.json, entry 3 (byte 192): has no mapping, so it has no messages",
        ]
    )
    assert done.err.splitlines()[20:] == snapshot(["… and 6 more; --json names up to 1,000."])


def test_a_program_gets_one_document(here: Here, tmp_path: Path) -> None:
    put_json(tmp_path / "conversations.json", [chatgpt_entry("x", *PING), {}])
    dry = here("import", "conversations.json", "--dry-run", "--json")
    assert (dry.code, dry.err) == (1, "")
    assert json.loads(dry.out) == snapshot(
        {
            "dryRun": True,
            "formats": {"chatgpt": ["conversations.json"]},
            "otherFiles": 0,
            "unreadFiles": [],
            "conversations": {
                "imported": 1,
                "extended": 0,
                "unchanged": 0,
                "changed": 0,
                "deleted": 0,
                "empty": 0,
                "problem": 1,
            },
            "undated": 0,
            "redacted": {},
            "leftOut": {
                "toolMessages": 0,
                "hiddenMessages": 0,
                "attachments": 0,
                "otherBranches": 0,
                "citationMarks": 0,
            },
            "leftOutByName": {},
            "problems": [
                {"place": "conversations.json, entry 2 (byte 523)", "reason": "has no mapping, so it has no messages"}
            ],
        }
    )
    assert not (tmp_path / "conversation-logs").exists()


def test_a_clean_import_ends_with_0_and_what_was_there_already_is_no_failure(here: Here, tmp_path: Path) -> None:
    put_json(tmp_path / "conversations.json", [chatgpt_entry("x", *PING)])
    assert here("import", "conversations.json").code == 0
    assert here("import", "conversations.json").code == 0
    assert here("import", "conversations.json", "--format", "chatgpt").code == 0
    assert len(stored(tmp_path)) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("nowhere",), 2, "there is nothing at nowhere to import."),
        (("note.txt",), 2, "note.txt is not JSON: it begins with 'hello'"),
        (("conversation-logs",), 2, "conversation-logs is the folder of the conversations itself; there is nothing to import."),
        (("note.txt", "--format", "word"), 2, "--format must be auto or one of librechat, perplexity-mcp-server,"),
        (("pipe",), 2, "pipe is neither a file, a folder nor an archive."),
    ],
)  # fmt: skip
def test_what_cannot_be_imported_is_told(
    here: Here, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "note.txt").write_text("hello", encoding="utf-8")
    (tmp_path / "conversation-logs").mkdir()
    os.mkfifo(tmp_path / "pipe")
    done = here("import", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a thing of POSIX")
def test_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    put_json(tmp_path / "conversations.json", [chatgpt_entry(f"c{number}", *PING) for number in range(3)])
    done = on_terminal(tmp_path, "import", "conversations.json", columns=100)
    assert done.code == 0
    assert "3  imported" in done.out


@pytest.mark.skipif(sys.platform == "win32", reason="a signal is a thing of POSIX")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_import_that_ends_in_the_middle_leaves_whole_conversations_and_goes_on(tmp_path: Path, number: int) -> None:
    count = 400
    put_json(tmp_path / "conversations.json", [chatgpt_entry(f"c{number}", *PING) for number in range(count)])
    command = [*PROGRAM, "import", "conversations.json"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=clean_environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None and len(list((tmp_path / "conversation-logs").glob("*/conversation.json"))) < 20:
            pass
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    first = stored(tmp_path)
    assert 20 <= len(first) < count
    assert all(conversation["messageCount"] == 2 for conversation in first)
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "what was imported is complete. Run the same command to continue." in err
    again = subprocess.run(
        command, cwd=tmp_path, env=clean_environment(tmp_path), check=True, capture_output=True, text=True
    )
    assert f"{len(first)}  already here" in again.stdout
    assert len({json.dumps(conversation["imported"]) for conversation in stored(tmp_path)}) == count
    assert len(stored(tmp_path)) == count


def test_two_imports_at_once_bring_in_everything_once(tmp_path: Path) -> None:
    count = 200
    put_json(tmp_path / "conversations.json", [chatgpt_entry(f"c{number}", *PING) for number in range(count)])
    environment = clean_environment(tmp_path)
    command = [*PROGRAM, "import", "conversations.json"]
    processes = [
        subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=100)[0].decode() for process in processes]
    assert sorted(output.splitlines()[1].strip() for output in outputs) == [
        f"{count}  already here",
        f"{count}  imported",
    ]
    assert len(stored(tmp_path)) == count


def test_what_grows_at_its_source_grows_in_the_original_and_not_in_its_branch(here: Here, tmp_path: Path) -> None:
    more = (chatgpt_node("c", "b", "user", "Again?"), chatgpt_node("d", "c", "assistant", "Pong again."))
    put_json(tmp_path / "conversations.json", [chatgpt_entry("x", *PING, *more)])
    here("import", "conversations.json")
    (original,) = stored(tmp_path)
    here("branch", "last", "2")
    assert "1  already here" in here("import", "conversations.json").out
    later = (chatgpt_node("e", "d", "user", "Still?"), chatgpt_node("f", "e", "assistant", "Still."))
    put_json(tmp_path / "conversations.json", [chatgpt_entry("x", *PING, *more, *later)])
    assert "1  extended" in here("import", "conversations.json").out
    counts = {str(each["conversationId"]): each["messageCount"] for each in stored(tmp_path)}
    assert counts.pop(str(original["conversationId"])) == 6
    assert [*counts.values()] == [2]


def test_a_disk_that_is_full_ends_the_import_and_what_is_there_is_whole(here: Here, tmp_path: Path) -> None:
    long = "x" * 100_000
    entries = [chatgpt_entry(f"c{number}", PING[0], chatgpt_node("b", "a", "assistant", long)) for number in range(60)]
    put_json(tmp_path / "conversations.json", entries)
    with small_disk(tmp_path / "disk", "2m"):
        done = here("import", "conversations.json", "--logs-dir", "disk/conversation-logs")
        kept = stored(tmp_path / "disk")
    assert done.code == 1
    assert "no space left on the device" in done.err.splitlines()[-1]
    assert done.err.splitlines()[-1].startswith("FILESYSTEM_ERROR: ")
    assert 5 < len(kept) < 60
    assert f"{len(kept)}  imported" in done.out


async def test_every_tool_follows_up_what_was_imported(tmp_path: Path) -> None:
    await bring_in(SAMPLES["chatgpt"].write(tmp_path), tmp_path)
    provider = FakeProvider()
    async with serving(tmp_path, provider) as client:
        listed = data_of(await client.call_tool("list_conversations", {"query": "boil"}))
        (found,) = listed["conversations"]
        assert found["title"] == "Title of tree"
        conversation = {"conversationId": found["conversationId"]}
        for tool in ("search_followup", "deep_research_followup"):
            await client.call_tool(tool, {**conversation, "query": f"{tool}?"})
    sent = [(message.role, message.content) for message in provider.requests[0].messages]
    assert sent == [*TREE_SAID, ("user", "search_followup?")]


@pytest.mark.parametrize("is_packed", [False, True], ids=["folder", "archive"])
def test_a_folder_of_ours_comes_in_without_its_trash_and_its_exports(
    here: Here, tmp_path: Path, *, is_packed: bool
) -> None:
    put_json(tmp_path / "first.json", [own_data(number) for number in range(3)])
    here("import", "first.json")
    kept, deleted, _ = (str(conversation["conversationId"]) for conversation in stored(tmp_path))
    here("delete", deleted)
    for ending in ("json", "jsonl"):
        text = here("export", kept, "--format", ending).out
        (tmp_path / "conversation-logs" / kept / f"export.{ending}").write_text(text, encoding="utf-8")
    source = tmp_path / "conversation-logs"
    if is_packed:
        source = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "conversation-logs"))
    done = here("import", str(source), "--logs-dir", "other/conversation-logs")
    assert done.code == 0, done.err
    assert stored(tmp_path / "other") == stored(tmp_path)


def test_an_own_export_leads_from_one_folder_to_another(here: Here, tmp_path: Path) -> None:
    put_json(tmp_path / "first.json", [own_data(number) for number in range(3)])
    here("import", "first.json")
    before = stored(tmp_path)
    here("export", "--all", "--format", "json", "--output", "all.json")
    done = here("import", "all.json", "--logs-dir", "other/conversation-logs")
    assert done.code == 0
    assert stored(tmp_path / "other") == before
