"""A server on a small disk that fills up, turns read-only or loses its folder: the answer arrives, the old file is whole."""

import json
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures import agent_wire
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.disks import DiskServer, disk_server
from tests.fixtures.folders import only_conversation, only_file, until_noted
from tests.fixtures.handwritten import bytes_below, roles_of, strays_below
from tests.fixtures.stores import fill, remount, small_disk

LARGE = "a line of an answer that is worth its money\n" * 1_000 + "[1]"
ROOM_FOR_A_QUESTION = 28_000
LARGE_QUESTION = "one? [[fault:big]]"
HELD_QUESTION = "one? [[fault:big]] [[hold]]"


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackAgent]:
    """An agent whose big answer is too large for what is left of the disk, and fits once it is freed."""
    monkeypatch.setattr(agent_wire, "BIG", LARGE)
    with LoopbackAgent() as agent:
        yield agent


@pytest.fixture
def disk(tmp_path: Path) -> Generator[Path]:
    with small_disk(tmp_path / "disk", "160k") as folder:
        yield folder


def ask_on_a_full_disk(server: DiskServer, disk: Path) -> dict[str, Any]:
    """Ask when there is room for the question and not for the answer; return the result."""
    fill(disk, ROOM_FOR_A_QUESTION)
    result = server.result(server.begin("search", query=LARGE_QUESTION))
    assert not result.get("isError"), result
    assert "THIS ANSWER IS NOT SAVED" in result["content"][0]["text"]
    return result["structuredContent"]


def free(disk: Path) -> None:
    (disk / "ballast").unlink()


def test_an_answer_that_does_not_fit_arrives_whole_with_a_notice_and_the_old_file_is_intact(
    disk: Path, agent: LoopbackAgent
) -> None:
    with disk_server(disk, agent) as server:
        data = ask_on_a_full_disk(server, disk)
        path = only_file(disk)
        assert data["rawResultText"] == LARGE
        assert data["conversationPath"] == str(path)
        assert data["notices"][0].startswith(f"THIS ANSWER IS NOT SAVED: {path}: no space left on the device.")
        assert "messageCount" not in data
        stored = only_conversation(disk)
        assert stored["pendingTurn"] == IsPartialDict(question=LARGE_QUESTION, responseId=data["responseId"])
        assert (stored["messageCount"], roles_of(stored["messages"])) == (1, ["system"])
        assert strays_below(disk) == []


def test_a_look_at_the_history_shows_the_unsaved_answer_and_saves_it_once_there_is_room(
    disk: Path, agent: LoopbackAgent
) -> None:
    with disk_server(disk, agent) as server:
        conversation = {"conversationId": ask_on_a_full_disk(server, disk)["conversationId"]}
        unsaved = server.data("get_conversation_history", **conversation)
        free(disk)
        saved = server.data("get_conversation_history", **conversation)
    assert unsaved["messages"][-1]["content"] == saved["messages"][-1]["content"] == LARGE
    assert "the last answer is not saved yet" in unsaved["notices"][0]
    assert "no space left on the device" in unsaved["notices"][0]
    assert "notices" not in saved
    assert_saved(disk, agent)


def test_a_follow_up_saves_the_answer_before_it_once_there_is_room(disk: Path, agent: LoopbackAgent) -> None:
    with disk_server(disk, agent) as server:
        conversation = {"conversationId": ask_on_a_full_disk(server, disk)["conversationId"]}
        free(disk)
        server.data("search_followup", query="two?", **conversation)
    stored = only_conversation(disk)["messages"]
    assert [message["content"] for message in stored[1:4]] == [LARGE_QUESTION, LARGE, "two?"]
    assert agent.paid == [LARGE_QUESTION, "two?"]
    assert [item["content"] for item in agent.requests[1]["input"]] == [message["content"] for message in stored[:4]]


@pytest.mark.parametrize("how", ["end of input", "kill"])
def test_a_server_that_ends_leaves_the_unsaved_answer_to_the_next_one(
    disk: Path, agent: LoopbackAgent, how: str
) -> None:
    with disk_server(disk, agent) as server:
        conversation = {"conversationId": ask_on_a_full_disk(server, disk)["conversationId"]}
        if how == "end of input":
            _out, err = server.end_of_input()
            assert (server.process.returncode, b"Traceback" in err) == (0, False)
    free(disk)
    with disk_server(disk, agent) as server:
        page = server.data("get_conversation_history", **conversation)
    assert page["messages"][-1]["content"] == LARGE
    assert_saved(disk, agent)


def test_the_end_of_a_server_is_the_last_try_to_save_an_answer(disk: Path, agent: LoopbackAgent) -> None:
    with disk_server(disk, agent) as server:
        ask_on_a_full_disk(server, disk)
        free(disk)
        server.end_of_input()
    assert_saved(disk, agent)


def test_the_same_call_again_gets_the_answer_that_nobody_got_and_could_not_be_saved(
    disk: Path, agent: LoopbackAgent
) -> None:
    with disk_server(disk, agent) as server:
        fill(disk, ROOM_FOR_A_QUESTION)
        first = server.begin("search", query=HELD_QUESTION)
        conversation = {"conversationId": until_noted(disk)["conversationId"]}
        server.send("notifications/cancelled", {"requestId": first})
        agent.release()
        page = server.data("get_conversation_history", waitSeconds=50, **conversation)
        free(disk)
        again = server.data("search", query=HELD_QUESTION)
    assert page["messages"][-1]["content"] == again["rawResultText"] == LARGE
    assert_saved(disk, agent)


def assert_saved(disk: Path, agent: LoopbackAgent) -> None:
    """The file holds the answer, and one call was paid."""
    stored = only_conversation(disk)
    assert roles_of(stored["messages"]) == ["system", "user", "assistant"]
    assert stored["messages"][-1]["content"] == LARGE
    assert "pendingTurn" not in stored
    assert agent.creates == 1
    assert strays_below(disk) == []


def test_without_room_for_the_question_nothing_is_sent_and_nothing_is_left(disk: Path, agent: LoopbackAgent) -> None:
    with disk_server(disk, agent) as server:
        fill(disk, 0)
        error = server.error("search", query="one?")
        left = bytes_below(disk / "conversation-logs")
        free(disk)
        server.data("search", query="one?")
    assert error == IsPartialDict(code="FILESYSTEM_ERROR", retryable=True)
    assert f"{disk}/conversation-logs" in error["message"]
    assert "no space left on the device" in error["message"]
    assert set(left) <= {".gitignore"}
    assert agent.creates == 1


def test_without_room_for_a_follow_up_nothing_is_sent_and_the_file_is_as_it_was(
    disk: Path, agent: LoopbackAgent
) -> None:
    with disk_server(disk, agent) as server:
        conversation = {"conversationId": server.data("search", query="one?")["conversationId"]}
        before = only_file(disk).read_bytes()
        fill(disk, 0)
        error = server.error("search_followup", query="two?", **conversation)
        assert only_file(disk).read_bytes() == before
        assert strays_below(disk) == []
        page = server.data("get_conversation_history", **conversation)
        free(disk)
        server.data("search_followup", query="two?", **conversation)
    assert error["code"] == "FILESYSTEM_ERROR"
    assert "no space left on the device" in error["message"]
    assert page["totalCount"] == 2
    assert agent.paid == ["one?", "two?"]


def test_on_a_disk_that_turns_read_only_history_works_and_a_question_is_not_sent(
    disk: Path, agent: LoopbackAgent
) -> None:
    with disk_server(disk, agent) as server:
        conversation = {"conversationId": server.data("search", query="one?")["conversationId"]}
        server.data("get_conversation_history", **conversation)  # who asks again has read the answer, which is noted
        before = bytes_below(disk)
        remount(disk, "ro")
        page = server.data("get_conversation_history", **conversation)
        errors = [
            server.error("search_followup", query="two?", **conversation),
            server.error("deep_research_followup", query="two?", **conversation),
            server.error("search", query="two?"),
        ]
        remount(disk, "rw")
        unchanged = bytes_below(disk) == before
        server.data("search_followup", query="two?", **conversation)
    assert page["totalCount"] == 2
    assert [error["code"] for error in errors] == ["FILESYSTEM_ERROR"] * 3
    assert all("the file system is read-only" in error["message"] for error in errors)
    assert unchanged
    assert agent.paid == ["one?", "two?"]


def delete(folder: Path, aside: Path) -> None:
    gone = folder.with_name("gone")
    folder.rename(gone)  # first, because the server tidies up in it
    shutil.copytree(gone, aside)
    shutil.rmtree(gone)


def move_away(folder: Path, aside: Path) -> None:
    folder.rename(aside)


@pytest.mark.parametrize("lose", [delete, move_away])
def test_an_answer_whose_folder_is_lost_meanwhile_arrives_and_is_saved_when_the_folder_is_back(
    tmp_path: Path, agent: LoopbackAgent, lose: Callable[[Path, Path], None]
) -> None:
    folder, aside = tmp_path / "conversation-logs", tmp_path / "aside"
    with disk_server(tmp_path, agent) as server:
        first = server.begin("search", query=HELD_QUESTION)
        conversation = {"conversationId": until_noted(tmp_path)["conversationId"]}
        lose(folder, aside)
        agent.release()
        data = server.result(first)["structuredContent"]
        unsaved = server.data("get_conversation_history", **conversation)
        assert not folder.exists()
        aside.rename(folder)
        saved = server.data("get_conversation_history", **conversation)
    assert data["rawResultText"] == LARGE
    assert data["notices"][0].startswith("THIS ANSWER IS NOT SAVED")
    assert str(folder) in data["notices"][0]
    assert unsaved["messages"][-1]["content"] == saved["messages"][-1]["content"] == LARGE
    assert str(folder) in unsaved["notices"][0]
    assert "notices" not in saved
    assert_saved(tmp_path, agent)


def test_a_folder_that_is_deleted_between_two_calls_is_told_and_the_next_start_makes_it_again(
    tmp_path: Path, agent: LoopbackAgent
) -> None:
    folder = tmp_path / "conversation-logs"
    with disk_server(tmp_path, agent) as server:
        conversation = {"conversationId": server.data("search", query="one?")["conversationId"]}
        folder.rename(tmp_path / "away")  # at once, while the server still tidies up in it
        errors = [
            server.error("search_followup", query="two?", **conversation),
            server.error("get_conversation_history", **conversation),
        ]
        assert not folder.exists()
        anew = server.data("search", query="three?")
    assert [error["code"] for error in errors] == ["CONVERSATION_NOT_FOUND"] * 2
    assert all(str(folder) in error["message"] for error in errors)
    assert json.loads(Path(anew["conversationPath"]).read_bytes())["messageCount"] == 3
    assert agent.paid == ["one?", "three?"]
