"""What a question gets from stdin: all that a file or a pipe gives, and nothing from a pipe that stays silent."""

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from conversation_mcp.cli.questions.piped import SILENT_SECONDS, is_given, read_text
from conversation_mcp.errors import InvalidInputError

MANY = 1000


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    before = set(threading.enumerate())
    reader, writer = os.pipe()
    yield reader, writer
    with suppress(OSError):
        os.close(writer)
    for thread in set(threading.enumerate()) - before:  # else it would read the next test's pipe of the same number
        thread.join()
    with suppress(OSError):
        os.close(reader)


class Waits:
    """A wait that takes no time: at the given one something happens, and it is heard."""

    def __init__(self, *happenings: object) -> None:
        self.happenings = list(happenings)
        self.seconds: list[float] = []

    def __call__(self, event: threading.Event, seconds: float) -> bool:
        self.seconds.append(seconds)
        happening = self.happenings.pop(0) if self.happenings else None
        if callable(happening):
            happening()
            event.wait()
        return event.is_set()


def test_a_pipe_that_stays_silent_is_left_alone_after_five_seconds_and_that_is_said(
    pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    waits = Waits()
    assert read_text(pipe[0], MANY, patient=False, wait=waits) == ""
    assert sum(waits.seconds) == SILENT_SECONDS == 5
    assert "waits 5 s" in capsys.readouterr().err


def test_a_pipe_that_speaks_late_is_heard_to_its_end(pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]) -> None:
    def speak() -> None:
        os.write(pipe[1], b"\xef\xbb\xbflate, but ")
        os.write(pipe[1], "größer\n".encode())
        os.close(pipe[1])

    assert read_text(pipe[0], MANY, patient=False, wait=Waits(None, speak)) == "late, but größer"
    assert "waits 5 s" in capsys.readouterr().err


def test_a_pipe_that_speaks_at_once_is_heard_without_a_word(
    pipe: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    os.write(pipe[1], b"a text")
    os.close(pipe[1])
    assert read_text(pipe[0], MANY, patient=False, wait=lambda event, _: event.wait()) == "a text"
    assert capsys.readouterr().err == ""


def test_a_pipe_that_was_asked_for_is_waited_for_without_a_limit(pipe: tuple[int, int]) -> None:
    waits = Waits()
    os.write(pipe[1], b"a text")
    os.close(pipe[1])
    assert read_text(pipe[0], MANY, patient=True, wait=waits) == "a text"
    assert waits.seconds == []


@pytest.mark.parametrize("body", [b"x" * (MANY + 1), b"x" * 100_000, "ü".encode() * (MANY + 1)])
def test_more_than_a_question_may_hold_is_refused_and_not_read_to_its_end(body: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(body)
        file.seek(0)
        with pytest.raises(InvalidInputError, match="longer than a question may be, 1,000 characters"):
            read_text(file.fileno(), MANY, patient=False)


def test_files_pipes_and_sockets_count_and_the_null_device_and_closed_streams_do_not(pipe: tuple[int, int]) -> None:
    left, right = socket.socketpair()
    with left, right, tempfile.TemporaryFile() as file, Path(os.devnull).open("rb") as null:
        assert [is_given(each) for each in (pipe[0], left.fileno(), file.fileno(), null.fileno())] == [
            True,
            True,
            True,
            False,
        ]
    os.close(pipe[0])
    assert not is_given(pipe[0])
