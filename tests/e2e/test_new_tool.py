"""Adding a tool that asks is one file and one line: everything else learns from the tool what it does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.fixtures.processes import ROOT, environment

import conversation_mcp

PACKAGE = Path(conversation_mcp.__file__).parent
TOOL = ROOT / "tests" / "fixtures" / "new_tool" / "ponder.py"
BEFORE = '"show_context"'
"""The tool of the same set after which it is added, whatever else is in that set."""


def test_a_tool_that_is_one_file_and_one_line_opens_follows_up_keeps_the_model_and_is_known_everywhere(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy" / PACKAGE.name
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(TOOL, copy / "tools")
    catalog = copy / "tools" / "catalog.py"
    before = catalog.read_text(encoding="utf-8")
    assert before.count(BEFORE) == 1
    catalog.write_text(before.replace(BEFORE, f'{BEFORE}, "ponder"'), encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "tests.fixtures.new_tool.child", str(tmp_path)],
        env=environment(tmp_path, PYTHONPATH=os.pathsep.join(map(str, (copy.parent, ROOT)))),
        capture_output=True,
        check=True,
    )
    told = json.loads(run.stdout)
    ids = [told[of] for of in ("id", "id", "branch", "id")]
    assert told["steps"] == [
        f"Follow up: chat or ponder with conversationId {each} and model openai:gpt-5-mini." for each in ids
    ]
    assert told["models"] == ["openai:gpt-5-mini", "openai:gpt-5-mini"]
    assert told["tools"] == ["ponder", "search_followup", "ponder", "chat", "ponder"]
    assert told["advice"].endswith("Check the id, or start one with chat.")
