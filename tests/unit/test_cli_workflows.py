"""The command `workflows` lists, shows and checks definitions."""

import json
from pathlib import Path

import pytest
from tests.reference.workflows_page import EXAMPLE
from typer.testing import CliRunner, Result

from conversation_mcp.cli.main import app
from conversation_mcp.workflows.library import SHIPPED


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> Result:
    monkeypatch.setenv("CONVERSATION_MCP_WORKFLOWS_DIR", str(folder))
    return CliRunner().invoke(app, ["workflows", *arguments])


def test_the_list_has_ours_and_own_ones_with_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "release.md").write_text(EXAMPLE, encoding="utf-8")
    (tmp_path / "broken.md").write_text("+++\nsummary = 1\n+++\n", encoding="utf-8")
    lines = [line.split("\t") for line in run(monkeypatch, tmp_path).output.splitlines()]
    assert [line[0] for line in lines] == [*SHIPPED, "broken", "release"]
    broken, own = lines[-2:]
    assert broken[4].startswith(f"{tmp_path}/broken.md:2: summary: must be a string")
    assert own[1:] == ["steps", "own", "Check the text of a release before it is published.", ""]
    listed = json.loads(run(monkeypatch, tmp_path, "--json").output)
    assert [each["name"] for each in listed if "problems" in each] == ["broken"]


def test_a_workflow_is_shown_as_text_and_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "release.md").write_text(EXAMPLE, encoding="utf-8")
    shown = run(monkeypatch, tmp_path, "show", "release").output
    assert "- audience developers: Look for changes that break" in shown
    assert "`audience` (users or developers, default users): Who reads it." in shown
    assert run(monkeypatch, tmp_path, "show", "release", "--raw").output == EXAMPLE


def test_a_name_that_is_not_there_is_an_error_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(monkeypatch, tmp_path, "show", "debugg")
    assert found.exit_code != 0
    assert "did you mean debug?" in str(found.exception)


def test_the_example_of_the_documents_passes_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.md"
    path.write_text(EXAMPLE, encoding="utf-8")
    found = run(monkeypatch, tmp_path, "check", str(path))
    assert found.exit_code == 0
    assert "release is valid." in found.output
    assert "A run with audience developers: 4 steps" in found.output


def test_a_mistake_fails_the_check_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.md"
    path.write_text(EXAMPLE.replace("min_steps = 2", "min_step = 2"), encoding="utf-8")
    found = run(monkeypatch, tmp_path, "check", str(path))
    assert found.exit_code == 1
    assert found.stderr == f"{path}:4: min_step: there is no such field; did you mean min_steps?\n"


def test_a_run_that_cannot_end_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "release.md"
    guard = '[[options]]\nname = "count"\nabout = "How many."\ntype = "integer"\n[[guards]]\noption = "count"\nthan = 2\nsay = "Go on."\n'
    other = '[[guards]]\noption = "count"\nis = "<="\nthan = 1\nsay = "Stop."\n'
    path.write_text(EXAMPLE.replace("[[guidance]]", guard + other + "[[guidance]]", 1), encoding="utf-8")
    found = run(monkeypatch, tmp_path, "check", str(path), "--json")
    assert found.exit_code == 1
    assert "must be at least 2" in json.loads(found.stdout)["problems"][0]
