"""Conversations taken out, by the command and by the tool."""

import json
import os
import stat
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.fixtures.cli import Here, put_conversation
from tests.fixtures.folders import ID
from tests.fixtures.providers import FakeProvider
from tests.fixtures.serving import data_of, error_of, serving, text_of

from conversation_mcp.errors import FilesystemError
from conversation_mcp.exporting.writer import write_file

OTHER = "20260201-1769904000000"


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Here:
    monkeypatch.chdir(tmp_path)
    put_conversation(tmp_path, ID, title="Trees: B/C?")
    put_conversation(tmp_path, OTHER, title="About *stars*")
    return Here(capsys, monkeypatch, tmp_path)


def test_one_conversation_goes_to_stdout_as_markdown(here: Here) -> None:
    done = here("export", ID)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith('---\ntitle: "Trees: B/C?"\n')


def test_json_is_the_file_and_several_are_an_array(here: Here, tmp_path: Path) -> None:
    alone = json.loads(here("export", ID, "--format", "json").out)
    assert alone == json.loads((tmp_path / "conversation-logs" / ID / "conversation.json").read_text(encoding="utf-8"))
    both = json.loads(here("export", ID, OTHER, "--format", "json").out)
    assert [conversation["conversationId"] for conversation in both] == [ID, OTHER]


def test_all_conversations_as_lines_in_a_file_of_their_owners(here: Here, tmp_path: Path) -> None:
    done = here("export", "--all", "--format", "jsonl", "--output", "out/all.jsonl")
    assert (done.code, done.err) == (0, "Exported 2 conversations to out/all.jsonl.\n")
    target = tmp_path / "out" / "all.jsonl"
    assert len([json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]) == 2
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_pages_of_a_query_go_to_a_folder_with_a_file_each(here: Here, tmp_path: Path) -> None:
    done = here("export", "--query", "stars", "--format", "html", "--output", "pages")
    assert done.code == 0, done.err
    assert [path.name for path in (tmp_path / "pages").iterdir()] == [f"{OTHER}-about-stars.html"]
    here("export", "--all", "--output", "pages")
    assert sorted(path.name for path in (tmp_path / "pages").glob("*.md")) == [
        f"{ID}-trees-b-c.md",
        f"{OTHER}-about-stars.md",
    ]


def test_a_query_with_one_hit_is_one_page(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, OTHER, title="The only zebra")
    done = here("export", "--query", "zebra")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith('---\ntitle: "The only zebra"\n')
    assert here("export", "--query", "zebra", "--output", "zebra.md").code == 0
    assert (tmp_path / "zebra.md").is_file()
    assert len(json.loads(here("export", "--query", "zebra", "--format", "json").out)) == 1
    assert here("export", "--query", "unheard-of").err == "No conversation was found.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "say which conversations: ids, or --query WORDS, or --all."),
        ((ID, "--all"), "say which conversations: ids, or --query WORDS, or --all."),
        (("--all",), "several conversations as markdown need a folder: --output FOLDER."),
        (("--all", "--format", "html", "--output", "note.txt"), "several conversations as html need a folder; note.txt is a file."),
        ((ID, "--output", f"conversation-logs/{ID}/conversation.json"), "--output must lie outside of the folder of the conversations"),
        ((ID, "--output", "pipe"), "pipe is neither a file nor a folder; - writes to stdout."),
        (("nothing",), "ID must look like"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_wrong_usage(
    here: Here, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    done = here("export", *arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert (tmp_path / "note.txt").read_text(encoding="utf-8") == "mine"


def test_a_link_is_not_followed(here: Here, tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("mine", encoding="utf-8")
    (tmp_path / "link.md").symlink_to("real.md")
    done = here("export", ID, "--output", "link.md")
    assert (done.code, "is a symbolic link, which is not followed" in done.err) == (1, True)
    assert (tmp_path / "real.md").read_text(encoding="utf-8") == "mine"


def test_what_cannot_be_read_is_said_and_the_others_are_exported(here: Here, tmp_path: Path) -> None:
    (tmp_path / "conversation-logs" / ID / "conversation.json").write_text('{"broken', encoding="utf-8")
    done = here("export", "--all", "--format", "jsonl", "--output", "-")
    assert done.code == 1
    assert done.err.startswith("CONVERSATION_CORRUPTED: ")
    assert len(done.out.splitlines()) == 1
    assert here("export", ID, "--format", "json", "--output", "kept.json").code == 1
    assert not (tmp_path / "kept.json").exists()


def test_nothing_found_is_a_failure_that_says_so(here: Here) -> None:
    done = here("export", "--query", "unheard-of", "--format", "json")
    assert (done.code, done.out, done.err) == (1, "", "No conversation was found.\n")


def test_redaction_is_for_sharing(here: Here, tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="see /home/me/x", note="sk-abcdefghijklmnopqrst")
    shown = here("export", ID, "--format", "json", "--redact").out
    assert "/home/me" not in shown
    assert "sk-abc" not in shown


def test_a_conversation_that_was_deleted_meanwhile_is_not_made_anew_by_its_export(tmp_path: Path) -> None:
    with pytest.raises(FilesystemError):
        write_file(tmp_path / ID / "export.md", ("# Trees",))
    assert list(tmp_path.iterdir()) == []


async def test_the_tool_returns_the_text_and_a_long_one_as_a_file(tmp_path: Path) -> None:
    put_conversation(tmp_path, ID, title="Trees")
    async with serving(tmp_path, FakeProvider(), tools=("research", "manage"), max_result_chars=1000) as client:
        short = await client.call_tool("export_conversation", {"conversationId": ID, "format": "jsonl"})
        long = await client.call_tool("export_conversation", {"conversationId": ID, "format": "html"})
        unknown = await client.call_tool("export_conversation", {"conversationId": OTHER})
        no_format = await client.call_tool("export_conversation", {"conversationId": ID, "format": "pdf"})
    assert data_of(short)["text"] == text_of(short)
    assert json.loads(text_of(short))["messages"][1] == {"role": "user", "content": "What is a B-tree?"}
    exported = data_of(long)
    path = Path(exported["path"])
    assert path == tmp_path / "conversation-logs" / ID / "export.html"
    assert "text" not in exported
    assert len(path.read_text(encoding="utf-8")) == exported["characters"]
    assert str(path) in text_of(long)
    assert error_of(unknown)["code"] == "CONVERSATION_NOT_FOUND"
    assert error_of(no_format)["message"] == snapshot("format must be one of markdown, html, json, jsonl; got 'pdf'.")
