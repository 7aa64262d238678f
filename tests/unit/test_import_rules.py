"""The rules of imports fail when somebody breaks them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BREACHES = {
    "cli/commands/list_.py": "stores.files.scan",
    "conversations/library.py": "stores.files.keeper",
    "stores/catalog.py": "stores.files.store",
    "bootstrap.py": "providers.local.provider",
    "providers/catalog.py": "providers.chat_completions.provider",
    "tools/chat.py": "providers.responses.runs",
}


def judged(folder: Path, breaches: dict[str, str]) -> tuple[int, str]:
    """Return what the linter says of a copy of the sources in which these modules import those."""
    sources = folder / "src" / "conversation_mcp"
    shutil.copytree(ROOT / "src" / "conversation_mcp", sources, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for module, imported in breaches.items():
        with (sources / module).open("a", encoding="utf-8") as file:
            file.write(f"\nimport conversation_mcp.{imported}\n")
    ended = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, " ".join(ended.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("breaches", [{}, BREACHES], ids=["as it is", "broken"])
def test_whoever_imports_an_adapter_is_named(tmp_path: Path, breaches: dict[str, str]) -> None:
    code, said = judged(tmp_path, breaches)
    assert code == bool(breaches), said
    for module, imported in BREACHES.items():
        importer = module.removesuffix(".py").replace("/", ".")
        line = f"conversation_mcp.{importer} -> conversation_mcp.{imported}"
        assert (line in said) is (module in breaches), said
