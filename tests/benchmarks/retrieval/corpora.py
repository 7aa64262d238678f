"""Three bodies of text that every checkout has: this project's documents, docstrings, and what packages say of themselves."""

import inspect
import shutil
import tomllib
import warnings
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path

from tests.benchmarks.stopwatch import ROOT

DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")


def write_corpora(folder: Path) -> None:
    """Write each body of text into a folder of its own."""
    made_of: dict[str, str] = tomllib.loads(Path(__file__).with_name("corpora.toml").read_text(encoding="utf-8"))
    _write_project(folder / "project")
    (folder / "docstrings").mkdir(parents=True)
    for name in made_of["modules"].split():
        (folder / "docstrings" / f"{name}.md").write_text(_docstrings(name), encoding="utf-8")
    (folder / "packages").mkdir(parents=True)
    for name in made_of["packages"].split():
        _, _, page = (distribution(name).read_text("METADATA") or "").partition("\n\n")
        (folder / "packages" / f"{name}.md").write_text(page, encoding="utf-8")


def _write_project(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in DOCUMENTS:
        shutil.copyfile(ROOT / name, folder / name)
    shutil.copytree(ROOT / "docs", folder / "docs")


def _docstrings(name: str) -> str:
    """Return the public things of a module as a page, in the order of their names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = import_module(name)
        parts = [f"# {name}", inspect.getdoc(module) or "", *_members(module, name, 2)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _members(owner: object, prefix: str, level: int) -> Iterator[str]:
    for name, member in sorted(vars(owner).items()):
        if name.startswith("_") or not (inspect.isroutine(member) or inspect.isclass(member)):
            continue
        if level > 2 and not hasattr(owner, "__mro__"):
            continue
        text = inspect.getdoc(member)
        if text and text != inspect.getdoc(object):
            yield f"{'#' * level} {prefix}.{name}"
            yield text
        if inspect.isclass(member) and level == 2:
            yield from _members(member, f"{prefix}.{name}", 3)
