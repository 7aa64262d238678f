"""Which code knows providers by name: their own packages, and what the list here says."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import conversation_mcp
from conversation_mcp.providers.definitions import load_definitions

SOURCES = Path(conversation_mcp.__file__).parent
KINDS = {"custom"}
"""A name that is also that of a kind of providers."""
NAMES = sorted(set(load_definitions()) - KINDS)
NAMED = re.compile(rf"\b(?:{'|'.join(NAMES)})\b|\b(?:{'|'.join(map(str.upper, NAMES))})_")
KNOWING = {
    "providers/perplexity": "the adapter itself",
    "providers/catalog.py": "finds adapters by name",
    "importing": "formats are named after who writes them",
    "logs.py": "shapes of keys",
    "text.py": "shapes of keys",
}


def texts(code: ast.AST) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings."""
    said = {id(node.value) for node in ast.walk(code) if isinstance(node, ast.Expr)}
    for node in ast.walk(code):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def named_in(path: Path) -> set[str]:
    return {found for text in texts(ast.parse(path.read_text(encoding="utf-8"))) for found in NAMED.findall(text)}


@pytest.mark.slow
def test_no_other_code_names_a_provider() -> None:
    modules = {path.relative_to(SOURCES).as_posix(): path for path in SOURCES.rglob("*.py")}
    named = {name: named_in(path) for name, path in modules.items() if not name.startswith(tuple(KNOWING))}
    assert {name: found for name, found in named.items() if found} == {}


@pytest.mark.parametrize("place", KNOWING)
def test_what_may_name_one_does(place: str) -> None:
    found = SOURCES / place
    assert any(named_in(path) for path in ([found] if found.suffix else found.rglob("*.py")))
