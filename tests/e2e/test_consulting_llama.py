"""A review of this repository from its first step to the judgement of a real model."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.cli import PROGRAM, clean_environment
from tests.fixtures.engines import LLAMA_MODEL, llama
from tests.fixtures.folders import only_conversation
from tests.fixtures.processes import ROOT

pytestmark = pytest.mark.slow
FILES = [f"tests/{name}.py" for name in ("file_sizes", "fixtures/folders")]
SHORT_ANSWERS = "[providers.llamacpp.quirks]\noutput_limit_tokens = 32\n"
WINDOW_TOKENS = 12_288


def test_llama_cpp_reviews_files_of_this_repository(tmp_path: Path) -> None:
    config = tmp_path / "config" / "conversation-mcp" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(SHORT_ANSWERS)
    with llama(window_tokens=WINDOW_TOKENS) as base_url:
        environment = clean_environment(tmp_path, LLAMACPP_BASE_URL=base_url, XDG_CONFIG_HOME=str(config.parents[1]))
        files = [part for file in FILES for part in ("-f", file)]
        command = [
            *PROGRAM,
            "consult",
            "codereview",
            "Is this right?",
            *files,
            "-m",
            f"llamacpp:{LLAMA_MODEL}",
            "--json",
        ]
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            env=environment,
            cwd=ROOT,
            text=True,
            encoding="utf-8",
            timeout=100,
        )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["state"], result["asked"]) == ("validated", True)
    assert result["rawResultText"]
    size_chars = sum(len((ROOT / file).read_text(encoding="utf-8")) for file in FILES)
    assert size_chars / 2 < result["usage"]["inputTokens"] < WINDOW_TOKENS
    assert result["usage"]["outputTokens"] == 32
    kept = only_conversation(tmp_path)
    assert [file["path"] for file in kept["messages"][1]["files"]] == [str(ROOT / file) for file in FILES]
    assert kept["workflowSteps"][0]["validation"] == {"asked": True, "messageNumber": 3}
