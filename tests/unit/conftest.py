"""What a unit test runs under besides: it waits for no disk, and only one that is marked slow starts a process."""

import os
import subprocess

import pytest


@pytest.fixture(autouse=True)
def _no_wait_for_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system write when it likes: what outlives a crash is tested on processes that are killed."""

    def sync(_descriptor: int) -> None:
        pass

    monkeypatch.setattr(os, "fsync", sync)


@pytest.fixture(autouse=True)
def _no_process_unless_slow(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(process: object, command: object, *_: object, **__: object) -> None:
        raise AssertionError(f"a test that starts a process ({command}) is to be marked slow")

    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
