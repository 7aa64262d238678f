"""Secrets, by the names of files, with rules in secret_rules.toml, and by what is in them, as `redacting` knows it."""

import tomllib
from importlib.resources import files
from typing import Any

from conversation_mcp.documents.formats import Formats
from conversation_mcp.documents.name_patterns import NamePatterns
from conversation_mcp.redacting.patterns import load_patterns, lowered


class SecretRules:
    """Tells secrets from other files."""

    def __init__(self, formats: Formats) -> None:
        facts: dict[str, Any] = tomllib.loads(
            files("conversation_mcp.attaching").joinpath("secret_rules.toml").read_text("utf-8")
        )
        self._formats = formats
        self._names = [(NamePatterns(one["names"]), one["what"]) for one in facts["names"]]
        self._any_name = NamePatterns(name for one in facts["names"] for name in one["names"])
        self._harmless = NamePatterns(facts["harmless"]["names"])
        self._folders = [(f"/{path}/", one["what"]) for one in facts["folders"] for path in one["paths"]]
        self._contents = [one for one in load_patterns(("keys",)) if not one.is_wide]

    def by_name(self, path: str) -> str | None:
        """Return what a file is whose path says that it is secret; None for all others."""
        posix = path.replace("\\", "/").lower()
        name = posix.rpartition("/")[2]
        if "/." in posix and (what := next((what for part, what in self._folders if part in posix + "/"), None)):
            return None if self._harmless.match(name) and name.endswith(".pub") else what
        if self._any_name.match(name):
            found = next(what for names, what in self._names if names.match(name))
        else:
            found = self._formats.secret(name)
        return None if found is None or self._harmless.match(name) else found

    def by_content(self, text: str) -> str | None:
        """Return what secret a text holds; None if it seems to hold none."""
        lower = lowered(text)
        return next((one.what for one in self._contents if any(one.found_in(text, lower))), None)
