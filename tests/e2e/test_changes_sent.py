"""The change of a repository as it goes with a question, through the tools and the command line."""

from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict
from tests.fixtures.agent import LoopbackAgent
from tests.fixtures.cli import piped
from tests.fixtures.homes import Home
from tests.fixtures.models import FakeModels
from tests.fixtures.repositories import Repository
from tests.fixtures.serving import data_of, error_of, serving

pytestmark = pytest.mark.slow

STAGED = " one\n-two\n+TWO\n three\n</file"


@pytest.fixture
def app(tmp_path: Path) -> Repository:
    made = Repository.made(tmp_path / "app")
    made.commit(**{"src/a.py": "one\ntwo\nthree\n"})
    made.write("src/a.py", "one\nTWO\nthree\n")
    made.git("add", "--all")
    made.write("src/a.py", "not staged\n")
    return made


def opened(home: Home, app: Repository, openai: FakeModels) -> Any:
    return serving(home, openai, tools=("research", "models"), roots=(app.folder,))


async def test_a_staged_change_stands_in_the_question_without_numbers_and_is_known_later(
    home: Home, app: Repository
) -> None:
    openai = FakeModels(name="openai")
    asked = {"prompt": "Is it right?", "model": "openai:gpt-6-sol", "files": ["git:staged"]}
    async with opened(home, app, openai) as client:
        first = data_of(await client.call_tool("chat", asked))
        again = data_of(await client.call_tool("chat", {**asked, "conversationId": first["conversationId"]}))
    assert STAGED in openai.requests[0].messages[-1].content
    labels = [app.label("git:staged"), app.label("git:staged", "src/a.py")]
    assert first["files"] == [IsPartialDict(path=label, sent="whole") for label in labels]
    assert again["files"] == [IsPartialDict(path=label, sent="known") for label in labels]
    assert STAGED not in openai.requests[1].messages[-1].content


async def test_a_change_that_went_on_is_sent_whole_and_no_diff_of_diffs(home: Home, app: Repository) -> None:
    openai = FakeModels(name="openai")
    app.write("src/a.py", "x\n" * 200)
    asked = {"prompt": "Is it right?", "model": "openai:gpt-6-sol", "files": ["git"]}
    async with opened(home, app, openai) as client:
        first = data_of(await client.call_tool("chat", asked))
        app.write("src/a.py", "x\n" * 200 + "y\n")
        again = data_of(await client.call_tool("chat", {**asked, "conversationId": first["conversationId"]}))
    assert [file["sent"] for file in again["files"]] == ["whole", "whole"]
    assert "\n+x\n+y\n</file" in openai.requests[1].messages[-1].content


async def test_a_change_that_cannot_be_sent_is_refused_before_anybody_is_asked(home: Home, app: Repository) -> None:
    openai = FakeModels(name="openai")
    asked = {"prompt": "Is it right?", "model": "openai:gpt-6-sol", "files": ["git:nowhere"]}
    async with opened(home, app, openai) as client:
        error = error_of(await client.call_tool("chat", asked))
    assert error == IsPartialDict(code="VALIDATION_ERROR")
    assert "git:nowhere: git knows no commit of this name" in error["message"]
    assert openai.requests == []


def test_the_command_line_sends_the_change_of_the_repository_that_it_runs_in(app: Repository, tmp_path: Path) -> None:
    asked = ("ask", "--chat", "-m", "fast", "-f", "git:staged", "review this")
    with LoopbackAgent() as agent:
        ended = piped(app.folder / "src", *asked, base_url=agent.base_url, HOME=str(tmp_path / "home"))
    assert ended.code == 0, ended.err
    sent = agent.requests[0]["input"][-1]["content"]
    assert STAGED in sent
    assert sent.endswith("review this")
