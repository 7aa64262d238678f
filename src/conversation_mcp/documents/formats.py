"""The formats of files, judged by their names; the facts are in formats.toml."""

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Literal, cast

from conversation_mcp.documents.name_patterns import NamePatterns
from conversation_mcp.documents.skips import Reason, suffix

Format = Literal[
    "markdown",
    "rst",
    "asciidoc",
    "html",
    "notebook",
    "table",
    "records",
    "plain",
    "code",
    "pdf",
    "docx",
    "xlsx",
    "rtf",
    "pptx",
    "odf",
    "epub",
    "mail",
]
NEEDED_MODULES = {"pdf": "pypdf", "docx": "mammoth", "xlsx": "openpyxl", "rtf": "striprtf"}
"""The modules that the extra `documents` installs."""
CONVERTED: frozenset[Format] = frozenset({"pdf", "docx", "xlsx", "rtf", "pptx", "odf", "epub", "mail"})


@dataclass(frozen=True)
class Language:
    """The syntax of definitions in a language, and of the comments and decorators above them."""

    definition: re.Pattern[str]
    above: tuple[str, ...]


class Formats:
    """Determines the formats of files by their names."""

    def __init__(self, missing: frozenset[Format] | None = None) -> None:
        facts: dict[str, Any] = tomllib.loads(
            files("conversation_mcp.documents").joinpath("formats.toml").read_text("utf-8")
        )
        self.missing = _missing() if missing is None else missing
        """Formats whose converter is not installed."""
        self._by_suffix = _inverted(facts["suffixes"])
        self._by_name = _inverted(facts["names"])
        self._languages: dict[str, Language] = {}
        for language in facts["languages"]:
            known = Language(re.compile(rf"([ \t]*)(?:{language['definition']})"), tuple(language["above"]))
            self._languages |= dict.fromkeys(language["suffixes"], known)
        self._by_suffix |= dict.fromkeys(self._languages, cast("Format", "code"))
        self._secrets = {one["what"]: NamePatterns(one["names"]) for one in facts["left_out"]["secrets"]}
        self._any_secret = NamePatterns(name for one in facts["left_out"]["secrets"] for name in one["names"])
        self._secret_words = re.compile(rf"(?<![a-z])(?:{'|'.join(facts['left_out']['secret_words'])})(?![a-z])")
        self._secret_data = frozenset(facts["left_out"]["secret_data"])
        self._generated = NamePatterns(facts["left_out"]["generated"])
        self._wordless = frozenset(facts["left_out"]["wordless"])
        needing = {ending for ending, form in self._by_suffix.items() if form in self.missing}
        self._unwanted = dict.fromkeys((suffix(one) for one in facts["left_out"]["generated"]), Reason.GENERATED)
        self._unwanted |= dict.fromkeys(needing, Reason.NEEDS_EXTRA) | dict.fromkeys(self._wordless, Reason.OTHER)
        self._folders = frozenset(facts["left_out"]["folders"])
        self._max_bytes: tuple[int, int] = facts["max_text_bytes"], facts["max_converted_bytes"]

    def of(self, name: str) -> Format | Reason:
        """Return the format of a file in a folder, or the reason why it is not read."""
        lower = name.lower()
        if self._any_secret.match(lower) or (suffix(lower) in self._secret_data and self._secret_words.search(lower)):
            return Reason.SECRET
        if self._generated.match(lower):
            return Reason.GENERATED
        found = self._by_name.get(lower) or self._by_suffix.get(suffix(lower))
        if found is None:
            return Reason.OTHER if suffix(lower) in self._wordless else Reason.UNREAD_KIND
        return Reason.NEEDS_EXTRA if found in self.missing else found

    def unwanted(self, name: str) -> Reason | None:
        """Return why a file in a folder need not be opened, because of its name, to know that it is not wanted."""
        reason = self._unwanted.get(name[name.rfind(".") :].lower())
        return None if reason is Reason.GENERATED and not self._generated.match(name.lower()) else reason

    def named(self, name: str) -> Format | Reason:
        """Return the format of a file that was named itself, which is read whatever its name, as text if need be."""
        lower = name.lower()
        found = self._by_name.get(lower) or self._by_suffix.get(suffix(lower)) or "markdown"
        return Reason.NEEDS_EXTRA if found in self.missing else found

    def secret(self, name: str) -> str | None:
        """Return what a file holds whose name is one of keys; None for all other names."""
        lower = name.lower()
        if not self._any_secret.match(lower):
            return None
        return next(what for what, names in self._secrets.items() if names.match(lower))

    def is_foreign(self, folder: str) -> bool:
        """Tell whether folders of that name hold installed packages rather than the user's files."""
        return folder.lower() in self._folders

    def max_bytes(self, form: Format) -> int:
        """Return the size up to which a file of that format is read."""
        return self._max_bytes[form in CONVERTED]

    def language(self, name: str) -> Language:
        """Return the language of a file with source code."""
        return self._languages[suffix(name.lower())]


def _missing() -> frozenset[Format]:
    return frozenset(cast("Format", form) for form, module in NEEDED_MODULES.items() if find_spec(module) is None)


def _inverted(names: dict[Format, list[str]]) -> dict[str, Format]:
    return {name: form for form, listed in names.items() for name in listed}
