"""A name stands for one class, so that it can be found and told from others without its module."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import conversation_mcp

SOURCES = Path(conversation_mcp.__file__).parent


@pytest.mark.slow
def test_no_two_classes_have_one_name() -> None:
    names = Counter(
        node.name
        for path in SOURCES.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
    )

    assert [name for name, count in names.items() if count > 1] == []
