"""The start of the server process, which every client waits for."""

import gc
import subprocess
import sys
from collections.abc import Generator

import pytest

from conversation_mcp.garbage import YOUNG_OBJECTS, collecting_later

UNBUILT = """
from conversation_mcp.bootstrap import open_app
from conversation_mcp.records.models import Conversation
assert not Conversation.__pydantic_complete__
"""


@pytest.fixture
def collector() -> Generator[None]:
    usual = gc.get_threshold()
    yield
    gc.set_threshold(*usual)
    gc.unfreeze()


@pytest.mark.usefixtures("collector")
def test_no_garbage_is_looked_for_while_the_server_is_put_together_and_seldom_later() -> None:
    with collecting_later():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] == YOUNG_OBJECTS


@pytest.mark.usefixtures("collector")
def test_a_server_that_does_not_start_leaves_the_collector_on() -> None:
    with pytest.raises(KeyError), collecting_later():
        raise KeyError
    assert gc.isenabled()


@pytest.mark.slow
def test_the_records_of_conversations_are_not_built_before_one_is_used() -> None:
    subprocess.run([sys.executable, "-c", UNBUILT], check=True)
