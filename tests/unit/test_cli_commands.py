"""How a command is found by its name."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.cli import clean_environment

from conversation_mcp.cli import commands
from conversation_mcp.cli.main import COMMANDS, MODULES, load_command

FOLDER = Path(str(commands.__file__)).parent


def test_every_module_of_a_command_is_listed() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    assert {MODULES.get(name, name) for name in COMMANDS} == modules


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_the_sentence_of_the_list(name: str) -> None:
    assert str(load_command(name).help).partition("\n\n")[0] == COMMANDS[name]


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [(("--help",), []), (("--version",), []), (("lst",), []), (("index",), ["index"]), (("list", "--help"), ["list_"])],
)
@pytest.mark.slow
def test_only_the_module_of_the_command_that_runs_is_imported(
    tmp_path: Path, arguments: tuple[str, ...], loaded: list[str]
) -> None:
    code = (
        "import sys\n"
        "from conversation_mcp.cli.entry import run\n"
        "run()\n"
        "start = 'conversation_mcp.cli.commands.'\n"
        "print([name.removeprefix(start) for name in sys.modules if name.startswith(start)], file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=clean_environment(tmp_path),
        check=True,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert ended.stderr.splitlines()[-1] == str(loaded)
