"""The text of a diff, and what each side of it says."""

import re

from conversation_mcp.attaching.texts import decoded_text
from conversation_mcp.text import storable

ENDING = ".diff"
HUNK = re.compile(r"@@ [-+0-9, ]+ @@ ?(?P<around>.*)")
ANY_HUNK = re.compile(r"^@@ -", re.MULTILINE)
FILE = "diff --"


def patch_text(data: bytes) -> str:
    """Return a diff as text; ends of lines that are the same on all of its lines are dropped.

    Raises:
        RefusedError: it is no text.
    """
    text = decoded_text(data, ENDING)
    contents = [line for line in text.split("\n") if line[:1] in ("+", "-", " ") and line[:4] not in ("+++ ", "--- ")]
    if contents and all(line.endswith("\r") for line in contents):
        text = text.replace("\r\n", "\n")
    return storable(text)


def has_hunk(patch: str) -> bool:
    """Tell whether a diff says more than that something was renamed, has another mode, or is binary."""
    return ANY_HUNK.search(patch) is not None


def sides_of(patch: str) -> tuple[str, str]:
    """Return the lines before and after the change, each with those that stayed, without the signs of the diff."""
    before: list[str] = []
    after: list[str] = []
    is_in_hunk = False
    for line in patch.split("\n"):
        if hunk := HUNK.match(line):
            is_in_hunk = True
            before.append(hunk["around"])
            after.append(hunk["around"])
        elif line.startswith(FILE):
            is_in_hunk = False
        elif is_in_hunk:
            if line[:1] in ("-", " "):
                before.append(line[1:])
            if line[:1] in ("+", " "):
                after.append(line[1:])
    return "\n".join(before), "\n".join(after)
