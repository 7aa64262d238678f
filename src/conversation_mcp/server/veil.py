"""What callers on other machines may read: nothing of this machine's paths, and nothing about its settings."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from mcp import MCPError

from conversation_mcp.records.ids import SHAPE
from conversation_mcp.records.layout import FILE_NAME
from conversation_mcp.server.resources import SCHEME
from conversation_mcp.sources import ALLOWED_MODELS, NAMED_VARIABLES, PREFIX

PATH_FIELDS = frozenset(("conversationPath",))
SETTING = re.compile(
    rf"\b(?:{PREFIX}\w+|[A-Z][A-Z0-9]*_(?:API_KEY|BASE_URL)|\w+{ALLOWED_MODELS}|{'|'.join(NAMED_VARIABLES.values())})\b"
)
IN_BRACKETS = re.compile(rf" \({SETTING.pattern}\)")
SENTENCE = re.compile(r"(?<=[.!?])(?=\s)")
CLAUSE = re.compile(r"(?=; |, )")
ASK_OPERATOR = "Ask whoever runs this server."


class Veil:
    """Replaces paths by words that mean the same to a caller elsewhere, and leaves out advice about settings."""

    def __init__(self, places: Mapping[str, str]) -> None:
        """Make the veil; `places` are paths of this machine, each with the word that stands for it."""
        self._words = {path: word for path, word in places.items() if len(Path(path).parts) > 1}
        longest_first = sorted(self._words, key=len, reverse=True)
        any_path = f"(?:{'|'.join(map(re.escape, longest_first))})"
        file = rf"{re.escape(os.sep)}({SHAPE.pattern}){re.escape(os.sep)}{re.escape(FILE_NAME)}"
        self._paths = re.compile(rf"{any_path}(?![\w-])") if self._words else None
        self._files = re.compile(any_path + file) if self._words else None

    def text(self, text: str) -> str:
        """Return the text without paths of this machine, and without names of settings in brackets."""
        if self._paths is not None and self._files is not None:
            text = self._files.sub(rf"{SCHEME}\1", text)
            text = self._paths.sub(lambda found: self._words[found[0]], text)
        return IN_BRACKETS.sub("", text)

    def data(self, value: Any) -> Any:  # noqa: ANN401 -- JSON
        """Return the data likewise, without the fields that hold paths."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.data(each) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value).items()
            return {name: self.data(each) for name, each in fields if name not in PATH_FIELDS}
        return value

    def sentences(self, text: str) -> str:
        """Return the sentences of an error without those that tell how to change the settings."""
        text = self.text(text)
        told = [kept for each in SENTENCE.split(text) if (kept := _without_settings(each))]
        return "".join(told) if len(told) > 1 or not SETTING.search(text) else f"{''.join(told)} {ASK_OPERATOR}"

    def error(self, error: MCPError) -> MCPError:
        """Return the error of the protocol likewise."""
        return MCPError(error.error.code, self.sentences(error.error.message), self.data(error.error.data))


def _without_settings(sentence: str) -> str:
    """Return the sentence without the clauses that name a setting; nothing if it begins with one."""
    if not SETTING.search(sentence):
        return sentence
    first, *others = CLAUSE.split(sentence)
    if SETTING.search(first):
        return ""
    return f"{''.join((first, *(each for each in others if not SETTING.search(each)))).rstrip('.')}."


def places_of(store: str, folders: Iterable[tuple[Path, str]], documents: Iterable[Path]) -> Mapping[str, str]:
    """Return what a veil hides: the place of the conversations, the program's own folders, and shared documents."""
    named = {str(folder): word for folder, word in folders}
    shared = {str(path): path.name for path in documents}
    return {**named, **shared, store: "this server"}
