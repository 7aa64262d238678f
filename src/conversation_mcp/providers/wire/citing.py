"""Numbers in an answer that stand for none of its sources."""

import re
from collections.abc import Collection

from conversation_mcp.models import Source
from conversation_mcp.providers.code_spans import CODE
from conversation_mcp.text import counted

CITED = re.compile(
    rf"""{CODE}
    | \$[^$\n]{{1,200}}\$
    | ^[ ]*(?:[-*>][ ]*)*\\?\[(?P<listed>[0-9]{{1,3}})\\?\]
    | (?P<word>[\w.$]*)\[(?P<number>[1-9][0-9]{{0,2}})\](?!\(|[ ]?=|\.[a-z_]|\[[^\]0-9])
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
"""Longer numbers are years; those that begin a line are a list that the answer brings along."""
OF_CODE = re.compile(r"\w?|.*[_$].*|.*[a-z][A-Z].*|\w+\.\w+", re.DOTALL)
"""What stands before the index of a list: `x`, `my_list`, `sys.argv`."""
MAX_NAMED = 5


def citation_notices(text: str, sources: Collection[Source]) -> tuple[str, ...]:
    """Return what to say about numbers that stand for no source; nothing where there are no sources at all."""
    if not sources:
        return ()
    cited: dict[int, None] = {}
    listed = {source.id for source in sources}
    for found in CITED.finditer(text):
        if found["listed"]:
            listed.add(int(found["listed"]))
        elif found["number"] and not (found["word"] and OF_CODE.fullmatch(found["word"])):
            cited[int(found["number"])] = None
    unknown = [number for number in cited if number not in listed]
    if not unknown:
        return ()
    named = ", ".join(f"[{number}]" for number in unknown[:MAX_NAMED]) + (", …" if unknown[MAX_NAMED:] else "")
    stand = "stands" if len(unknown) == 1 else "stand"
    return (f"the answer cites {named}, which {stand} for none of its {counted(len(sources), 'source')}",)
