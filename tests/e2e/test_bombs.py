"""Answers that are small on the wire and would fill the memory: whoever sends them, a server stays below a bound."""

import json
import subprocess
import sys

import pytest

MAX_PEAK_MIB = 300


@pytest.mark.slow
@pytest.mark.parametrize("wire", ["chat_completions", "responses"])
def test_no_answer_of_a_provider_takes_more_memory_than_this(wire: str) -> None:
    command = [sys.executable, "-m", "tests.fixtures.bombs_child", wire]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    peaks = [json.loads(line) for line in told.splitlines()]
    assert len(peaks) >= len({name for _, name, _ in peaks}) > 10
    assert all(peak <= MAX_PEAK_MIB for _, _, peak in peaks), peaks
