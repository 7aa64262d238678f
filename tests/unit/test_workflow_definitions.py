"""Every definition can be driven to its end; a damaged one is refused with file, line and field."""

import os
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.library import MAX_FILES, SHIPPED, Workflows, read_workflow
from conversation_mcp.workflows.readable import readable
from conversation_mcp.workflows.reader import MAX_BYTES
from conversation_mcp.workflows.trial import try_definition

NOWHERE = Workflows(Path("/nonexistent"))
SMALL = '+++\nsummary = "Look twice."\n\n[[guidance]]\nsay = "Look again."\n+++\n'
ENDS_ASKING = {"thinkdeep", "debug", "analyze", "codereview", "precommit", "secaudit", "refactor", "testgen"}
DAMAGED = {
    "no front matter": ("Just a prompt.", "own.md:1: the file must begin with a line +++"),
    "an open front matter": ('+++\nsummary = "x"\n', "own.md:1: the file must begin"),
    "broken TOML": ('+++\nsummary = "x\n+++\n', "own.md:2: it is not TOML"),
    "an unknown field": (SMALL.replace("summary", 'sumary = "x"\nsummary'), "own.md:2: sumary: there is no such field"),
    "a near name": (SMALL.replace("say =", 'sai = "x"\nsay ='), "own.md:5: guidance 1, sai: there is no such field; did"),
    "a mistake in the second of two": (
        SMALL.replace("[[guidance]]", '[[guidance]]\nwhen = { max_step = 1 }\nsay = "a"\n\n[[guidance]]\nwhen = { steps = 2 }'),
        "own.md:9: guidance 2, when.steps: there is no such field",
    ),
    "an include": (SMALL.replace("summary", 'include = "debug.md"\nsummary'), "own.md:2: include: there is no such field; a"),
    "a name": (SMALL.replace("summary", 'name = "other"\nsummary'), "own.md:2: name: there is no such field; the name"),
    "no summary": (SMALL.replace('summary = "Look twice."', ""), "summary: is missing"),
    "a number for a text": (SMALL.replace('"Look twice."', "7"), "own.md:2: summary: must be a string"),
    "a text for a number": (SMALL.replace("\n[[", 'min_steps = "3"\n[[', 1), "own.md:3: min_steps: must be a whole number"),
    "true for a number": (SMALL.replace("\n[[", "min_steps = true\n[[", 1), "own.md:3: min_steps: must be a whole number"),
    "too many steps": (SMALL.replace("\n[[", "min_steps = 5000\n[[", 1), "min_steps: must be at most 1,000"),
    "a text for a list": (SMALL.replace("\n[[", 'needs = "files"\n[[', 1), "own.md:3: needs: must be a list"),
    "an unknown part": (SMALL.replace("\n[[", 'needs = ["files", "luck"]\n[[', 1), "own.md:3: needs 2: must be 'files'"),
    "an unknown confidence": (
        SMALL.replace("say =", 'when = { confidence = ["sure"] }\nsay =').replace("+++\n", "", 0),
        "own.md:5: guidance 1, when.confidence: 'sure' is not in the scale of confidence",
    ),
    "a guidance with an end": (
        SMALL.replace("say =", "when = { max_step = 1 }\nsay ="),
        "own.md:5: guidance 1, when: must be left out in the last rule",
    ),
    "a rule that never counts": (
        SMALL.replace("+++\n", "", 0).replace('say = "Look again."\n', 'say = "a"\n\n[[guidance]]\nsay = "b"\n'),
        "guidance 1, when: always holds",
    ),
    "an option that is not there": (
        SMALL.replace("\n[[", '\nseverity_filter = "least"\n[[', 1),
        "own.md:4: severity_filter: there is no option 'least'",
    ),
    "a default of another type": (
        SMALL.replace("[[guidance]]", '[[options]]\nname = "n"\nabout = "x"\ntype = "integer"\ndefault = "1"\n[[guidance]]'),
        "own.md:8: options 1, default: must be a whole number",
    ),
    "a validation without a prompt": (
        SMALL.replace("[[guidance]]", '[validation]\nask = "at_end"\n[[guidance]]'),
        "prompt: is missing below the second +++",
    ),
    "a template without a place": (
        '+++\nsummary = "x"\nkind = "template"\n+++\nAnswer it.\n',
        "own.md:5: prompt: must have {prompt} once",
    ),
    "nesting without end": (f"+++\nsummary = {'[' * 5000}{']' * 5000}\n+++\n", "nested too deeply"),
    "a huge number": (f"+++\nmin_steps = {'9' * 5000}\n+++\n", "own.md:"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_workflow_reaches_its_end(name: str) -> None:
    definition = NOWHERE.find(name)
    runs = list(try_definition(definition))
    ends = {run.steps[-1].state for run in runs if run.steps}
    assert ("validation_due" in ends) == (name in ENDS_ASKING)
    assert all(step.state == "in_progress" for run in runs for step in run.steps[:-1])
    assert all(step.guidance for run in runs for step in run.steps)
    assert definition.summary in readable(definition, "shipped")


def test_the_shipped_list_is_that_of_the_folder() -> None:
    folder = files("conversation_mcp.workflows").joinpath("definitions")
    assert {path.name for path in folder.iterdir() if path.name.endswith(".md")} == {f"{name}.md" for name in SHIPPED}


@pytest.mark.parametrize("name", SHIPPED)
def test_a_prompt_takes_a_page_at_most_and_a_sentence_of_guidance_is_short(name: str) -> None:
    definition = NOWHERE.find(name)
    assert len(definition.prompt) < 2_500
    assert all(40 < len(rule.say) < 350 for rule in definition.guidance)


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_refused_with_its_line_and_field(damage: str, tmp_path: Path) -> None:
    text, problem = DAMAGED[damage]
    path = tmp_path / "own.md"
    path.write_text(text, encoding="utf-8")
    found = read_workflow(path)
    assert found.definition is None
    assert problem in found.problem
    assert found.problem.startswith(f"{path}:")


def test_an_own_workflow_wins_and_a_broken_one_breaks_no_other(tmp_path: Path) -> None:
    (tmp_path / "debug.md").write_text(SMALL, encoding="utf-8")
    (tmp_path / "tracer.md").write_text("broken", encoding="utf-8")
    (tmp_path / "second-look.md").write_text(SMALL, encoding="utf-8")
    known = Workflows(tmp_path)
    assert known.find("debug").summary == "Look twice."
    assert known.find("second-look").name == "second-look"
    assert known.names() == (*SHIPPED, "second-look")
    assert [file.name for file in known.all() if file.problems] == ["tracer"]
    with pytest.raises(InvalidInputError, match=r"tracer cannot be used: .*tracer\.md:1"):
        known.find("tracer")


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidInputError, match="did you mean codereview"):
        NOWHERE.find("code_review")


def _ten_megabytes(path: Path) -> None:
    path.write_bytes(SMALL.encode() + b"x" * 10_000_000)


def _a_pipe(path: Path) -> None:
    os.mkfifo(path)


def _a_folder(path: Path) -> None:
    path.mkdir()


def _a_dead_link(path: Path) -> None:
    path.symlink_to("nowhere.md")


def _latin(path: Path) -> None:
    path.write_bytes(SMALL.encode() + b"caf\xe9")


@pytest.mark.parametrize("make", [_ten_megabytes, _a_pipe, _a_folder, _a_dead_link, _latin])
def test_what_is_no_definition_is_listed_with_its_problem(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "odd.md")
    (odd,) = (file for file in Workflows(tmp_path).all() if file.is_own)
    assert odd.definition is None
    assert odd.problem
    assert len(odd.text) <= MAX_BYTES + 1


@pytest.mark.parametrize("name", ["-rf", "A", "ä", "a b", "x" * 33, "1a"])
def test_a_file_with_an_odd_name_is_listed_and_not_used(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.md").write_text(SMALL, encoding="utf-8")
    (odd,) = (file for file in Workflows(tmp_path).all() if file.is_own)
    assert (odd.name, odd.definition) == (name, None)
    assert "the name of the file must be" in odd.problem


def test_no_more_files_are_read_than_the_limit(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 3):
        (tmp_path / f"own-{number:03}.md").write_text(SMALL, encoding="utf-8")
    known = Workflows(tmp_path)
    assert len(known.names()) == len(SHIPPED) + MAX_FILES
    assert known.left_out() == 3


def test_a_definition_in_windows_form_is_read(tmp_path: Path) -> None:
    path = tmp_path / "own.md"
    path.write_bytes(b"\xef\xbb\xbf" + SMALL.replace("\n", "\r\n").encode())
    assert isinstance(read_workflow(path).definition, Workflow)
