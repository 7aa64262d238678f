"""Patterns of file names, such as `*.pem`, many of which are tried on each name."""

import re
from collections.abc import Iterable
from fnmatch import translate

MAGIC = re.compile(r"[*?\[]")


class NamePatterns:
    """Patterns in small letters; most are whole names or endings, which need no expression."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        self._names = frozenset(one for one in patterns if not MAGIC.search(one))
        self._endings = tuple(one[1:] for one in patterns if one.startswith("*") and not MAGIC.search(one[1:]))
        rest = [one for one in patterns if one not in self._names and one[1:] not in self._endings]
        self._rest = re.compile("|".join(map(translate, rest))) if rest else None

    def match(self, lower: str) -> bool:
        """Tell whether a name in small letters matches any of the patterns."""
        if lower.endswith(self._endings) or lower in self._names:
            return True
        return self._rest is not None and self._rest.match(lower) is not None
