"""The marks around hidden reasoning, as models write them, and where they are only spoken of."""

import re

TAGS = ("think", "thinking", "thought", "thoughts", "reasoning", "seed:think")
BLOCKS = {
    **{f"<{tag}>": f"</{tag}>" for tag in TAGS},
    **{f"<|channel>{name}": "<channel|>" for name in ("thought", "thinking", "analysis", "reasoning")},
    "[think]": "[/think]",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
}
"""Opening marks and what closes each; case does not count."""
CLOSINGS = tuple(dict.fromkeys(BLOCKS.values()))
CHANNEL_MARKS = ("<|start|>", "<|channel|>", "<|message|>")
FINAL_HEADERS = tuple(f"{end}<|start|>assistant<|channel|>final<|message|>" for end in ("<|end|>", ""))
ANSWER_ENDS = ("<|end|>", "<|return|>")

OPENING = re.compile("|".join(map(re.escape, BLOCKS)), re.IGNORECASE)
HEADER = re.compile(
    r"(?=<\|)(?:<\|start\|>\s*assistant[^<\n]{0,80})?"
    r"(?:<\|channel\|>(?P<channel>[^<]{0,80})(?:<\|constrain\|>[^<]{0,40})?)?<\|message\|>"
)
"""What begins a message of gpt-oss; only its channel `final` is meant to be read."""
CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)")
WATCHED = re.compile(
    f"(?P<opening>{OPENING.pattern})|(?P<final>{'|'.join(map(re.escape, FINAL_HEADERS))})"
    f"|{'|'.join(map(re.escape, CLOSINGS))}",
    re.IGNORECASE,
)
"""What decides about a text that did not begin with a mark."""

MAX_HEADER_CHARS = 250
MAX_MARK_CHARS = max(map(len, (*BLOCKS, *CLOSINGS, *FINAL_HEADERS)))
MARK_STARTS = frozenset(mark[0] for mark in (*BLOCKS, *CLOSINGS, *FINAL_HEADERS, *ANSWER_ENDS))
FENCE = re.compile(r"^ {0,3}(?:`{3,}|~{3,})", re.MULTILINE)
QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb", "(": ")"}
SPOKEN_OF_AFTER = frozenset("\"'`\u201c\u2018\u00ab([{*_:=")
SENTENCE_ENDS = frozenset(".!?)\u3002\uff01\uff1f\u2026")


def closing_of(opening: str) -> re.Pattern[str]:
    """Return what ends the block that this mark begins."""
    return re.compile(re.escape(BLOCKS[opening.lower()]), re.IGNORECASE)


def may_begin(text: str) -> bool:
    """Tell whether the text is too short yet to say if it begins with a mark."""
    start = text[:MAX_MARK_CHARS].lower()
    if any(mark.startswith(start) for mark in (*BLOCKS, *CHANNEL_MARKS)):
        return True
    return start.startswith(CHANNEL_MARKS) and len(text) <= MAX_HEADER_CHARS and "<|message|>" not in text


def begun(text: str, marks: tuple[str, ...]) -> int:
    """Return how many characters at the end of the text may be the beginning of one of the marks."""
    tail = text[-MAX_MARK_CHARS:].lower()
    places = (place for place, char in enumerate(tail) if char in MARK_STARTS)
    starts = (place for place in places if any(mark.startswith(tail[place:]) for mark in marks))
    return len(tail) - next(starts, len(tail))


def is_spoken_of(before: str, after: str, *, is_last: bool) -> bool | None:
    """Tell whether a mark between these stands in code or quotes; None where more text has to decide."""
    if len(FENCE.findall(before)) % 2:
        return True
    line, (rest, line_end, _) = before.rpartition("\n")[2], after.partition("\n")
    if line.count("`") % 2:
        return None if "`" not in rest and not line_end and not is_last else "`" in rest
    closing = QUOTES.get(line[-1:])
    if closing is None:
        return False
    return None if not after and not is_last else after.startswith(closing)


def ends_reasoning(before: str, after: str, *, is_last: bool) -> bool | None:
    """Tell whether a closing mark that nothing opened ends reasoning; None where more text has to decide.

    It does where it stands on a line of its own or directly behind the last word, and an answer follows.
    """
    if not after.strip():
        return False if is_last else None
    spoken_of = is_spoken_of(before, after, is_last=is_last)
    if spoken_of is not False:
        return None if spoken_of is None else False
    line = before.rpartition("\n")[2]
    said = before.rstrip()
    if not line.strip():
        return not said.endswith(":")
    last = line[-1]
    if last.isspace() or last in SPOKEN_OF_AFTER:
        return False
    return last.isascii() or last in SENTENCE_ENDS or after.startswith("\n")
