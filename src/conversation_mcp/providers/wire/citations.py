"""Citation numbers in an answer that refer to none of its sources."""

import re
from collections.abc import Collection, Iterator

from conversation_mcp.providers.wire.code_spans import CODE
from conversation_mcp.records.models import Source
from conversation_mcp.text import counted

NUMBER = "[1-9][0-9]{0,2}"
GROUP = rf"[ ]?{NUMBER}(?:[ ]?[,;\-\u2013][ ]?{NUMBER})*[ ]?"
CITED = re.compile(
    rf"""{CODE}
    | <(?P<tag>code|pre)\b.{{0,1000}}?</(?P=tag)>
    | \$[^$\n]{{1,200}}\$
    | ^[ ]*(?:[-*>][ ]*){{0,20}}\\?\[(?P<listed>[0-9]{{1,3}})\\?\]
    | (?P<mark>\[{GROUP}\](?!\(|[ ]?=|[ ]?->|\.[a-z_]|\[[^\]0-9])|\u3010{GROUP}\u3011)
    """,
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)
"""Citations, with code, formulas and lists to pass over.

Longer numbers are years. A number that begins a line is an entry of the answer's own list of sources.
"""
SPAN = re.compile(rf"({NUMBER})(?:[ ]?[-\u2013][ ]?({NUMBER}))?")
WORD = re.compile(r"[\w.$]*\Z")
OF_CODE = re.compile(r"\w|.*[_$].*|.*[a-z][A-Z].*|\w+\.\w+", re.DOTALL)
"""A word before the index of a list in a program: `x`, `my_list`, `sys.argv`."""
BEFORE_LIST = re.compile(
    r"(?:[=\[{\u2208\u2192]|->|\w\(|\[[a-z]\w*\]"
    r"|\b(?:array|list|vector|tuple|return|yield|print|output)s?(?: is| of)?) ?\Z",
    re.IGNORECASE,
)
"""A text before a list of numbers in a program."""
BEFORE_NUMBERS = re.compile(
    r"(?::|\b(?:(?:interval|range|value|number|integer|set|point|dimension|input|index|coordinate)s?|is|are|indices|shape"
    r"|sequence|series|matrix|domain)) ?\Z",
    re.IGNORECASE,
)
"""A text before several numbers that are not sources."""
LEAD_CHARS = 24
MAX_NAMED = 5
MAX_SPAN = 50
"""A longer span means years or pages, not sources."""


def citation_notices(text: str, sources: Collection[Source]) -> tuple[str, ...]:
    """Return a notice about numbers that refer to no source; an answer without any sources gets none."""
    if not sources:
        return ()
    cited: dict[int, None] = {}
    listed = {source.id for source in sources}
    for found in CITED.finditer(text):
        if found["listed"]:
            listed.add(int(found["listed"]))
        elif found["mark"] and not _is_of_program(found, text):
            cited.update(dict.fromkeys(_numbers(found["mark"])))
    unknown = [number for number in cited if number not in listed]
    if not unknown:
        return ()
    named = ", ".join(f"[{number}]" for number in unknown[:MAX_NAMED]) + (", …" if unknown[MAX_NAMED:] else "")
    refer = "refers" if len(unknown) == 1 else "refer"
    return (f"the answer cites {named}, which {refer} to none of its {counted(len(sources), 'source')}",)


def _is_of_program(found: re.Match[str], text: str) -> bool:
    place = found.start("mark")
    lead = text[max(place - LEAD_CHARS, 0) : place]
    if (word := WORD.search(lead)) and OF_CODE.fullmatch(word[0]):
        return True
    is_single = found["mark"].strip("[]\u3010\u3011 ").isdecimal()
    return BEFORE_LIST.search(lead) is not None or (not is_single and BEFORE_NUMBERS.search(lead) is not None)


def _numbers(mark: str) -> Iterator[int]:
    for first, last in SPAN.findall(mark):
        numbers = range(int(first), int(last or first) + 1)
        if len(numbers) <= MAX_SPAN:
            yield from numbers
