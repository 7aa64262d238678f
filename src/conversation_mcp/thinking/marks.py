"""The marks around hidden reasoning, as models write them, and the signs that a text only mentions them."""

import re

TAGS = (
    *("think", "thinking", "thought", "thoughts", "reason", "reasoning", "antthinking", "reasoning_scratchpad"),
    *("seed:think", "mm:think", "longcat_think"),
)
BLOCKS = {
    **{f"<|channel>{name}": "<channel|>" for name in ("thought", "thinking", "analysis", "reasoning")},
    "[think]": "[/think]",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|start_thinking|>": "<|end_thinking|>",
    "<unused94>thought": "<unused95>",
    "\u25c1think\u25b7": "\u25c1/think\u25b7",
}
"""Opening marks other than tags, with their closing marks; in any case."""
CHANNEL_MARKS = ("<|start|>", "<|channel|>", "<|message|>")
FINAL_HEADERS = tuple(f"{end}<|start|>assistant<|channel|>final<|message|>" for end in ("<|end|>", ""))
ANSWER_ENDS = ("<|end|>", "<|return|>")
DECIDING = (*BLOCKS, *BLOCKS.values(), *FINAL_HEADERS)

_TAG = "|".join(TAGS)
_CLOSING_TAG = rf"</[ \t]{{0,4}}(?:{_TAG})[ \t]{{0,4}}>"
OPENING = re.compile(
    rf"<[ \t]{{0,4}}(?P<tag>{_TAG})(?:\s+[\w:-]{{1,40}}\s?=[^<>/]{{0,80}}|\s{{0,4}})>"
    rf"|{'|'.join(map(re.escape, BLOCKS))}",
    re.IGNORECASE,
)
MAYBE_TAG = re.compile(rf"</?[ \t]{{0,4}}(?:(?P<begun>[a-z:_]*)|(?:{_TAG})\s[^<>/]{{0,80}})", re.IGNORECASE)
HEADER = re.compile(
    r"(?=<\|)(?:<\|start\|>\s*assistant[^<\n]{0,80})?"
    r"(?:<\|channel\|>(?P<channel>[^<]{0,80})(?:<\|constrain\|>[^<]{0,40})?)?<\|message\|>"
)
"""The header of a message of gpt-oss; only the channel `final` is meant for readers."""
CHANNEL_END = re.compile(r"<\|(?:end|return|call)\|>|(?=<\|(?:start|channel)\|>)")
WATCHED = re.compile(
    f"(?P<opening>{OPENING.pattern})|(?P<final>{'|'.join(map(re.escape, FINAL_HEADERS))})"
    f"|{_CLOSING_TAG}|{'|'.join(map(re.escape, dict.fromkeys(BLOCKS.values())))}",
    re.IGNORECASE,
)
"""The marks that decide about a text that does not begin with one."""

MAX_HEADER_CHARS = 250
MAX_MARK_CHARS = 120
MAX_UNDECIDED_CHARS = 1000
"""The most text behind a mark to wait for; then the mark is judged by what is there."""
MARK_STARTS = frozenset(mark[0] for mark in DECIDING)
FENCE = re.compile(r" {0,3}(?:`{3}|~{3})")
FENCES = re.compile(f"^{FENCE.pattern}", re.MULTILINE)
FENCE_CHARS = 6
QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb", "(": ")"}
SPOKEN_OF_AFTER = frozenset("\"'`\u201c\u2018\u00ab([{*_:=")
SENTENCE_ENDS = frozenset(".!?)\u3002\uff01\uff1f\u2026")
SPEAKING = re.compile(r"[ ,]|[-/]\S|\W*\Z")
GOES_ON = frozenset(".,;:!?)")


class Before:
    """The text before a mark, reduced to what tells whether the mark is meant; the text itself is not kept."""

    def __init__(self) -> None:
        self._fences = 0
        self._line_start = ""
        self._ticks = 0
        self.last = ""
        """The last character of the line."""
        self.said = ""
        """The last character that is not white space."""
        self.is_line_blank = True

    def add(self, text: str) -> None:
        """Add the next piece of the text."""
        line, line_end, more = text.partition("\n")
        self._add_to_line(line)
        if line_end:
            lines, _, rest = more.rpartition("\n")
            self._fences += self._begins_fence + len(FENCES.findall(lines))
            self.said = (lines.rstrip() or self.said)[-1:]
            self._line_start, self._ticks, self.last, self.is_line_blank = "", 0, "", True
            self._add_to_line(rest)

    def _add_to_line(self, text: str) -> None:
        self._line_start = (self._line_start + text[:FENCE_CHARS])[:FENCE_CHARS]
        self._ticks += text.count("`")
        self.last = text[-1:] or self.last
        if said := text.rstrip():
            self.said, self.is_line_blank = said[-1], False

    @property
    def _begins_fence(self) -> bool:
        return FENCE.match(self._line_start) is not None

    @property
    def is_in_fence(self) -> bool:
        """Whether a block of code is open."""
        return (self._fences + self._begins_fence) % 2 == 1

    @property
    def is_in_ticks(self) -> bool:
        """Whether code within the line is open."""
        return self._ticks % 2 == 1


def closing_of(opening: re.Match[str]) -> re.Pattern[str]:
    """Return the pattern of the mark that closes the block."""
    tag = opening["tag"]
    pattern = rf"</[ \t]{{0,4}}{re.escape(tag)}[ \t]{{0,4}}>" if tag else re.escape(BLOCKS[opening[0].lower()])
    return re.compile(pattern, re.IGNORECASE)


def may_begin(text: str) -> bool:
    """Tell whether the text may still become an opening mark with the next piece."""
    start = text[:MAX_MARK_CHARS].lower()
    if _may_be_tag(start) or any(mark.startswith(start) for mark in (*BLOCKS, *CHANNEL_MARKS)):
        return True
    return start.startswith(CHANNEL_MARKS) and len(text) <= MAX_HEADER_CHARS and "<|message|>" not in text


def begun(text: str, marks: tuple[str, ...]) -> int:
    """Return how many characters at the end of the text may be the start of one of the marks, or of a tag."""
    tail = text[-MAX_MARK_CHARS:].lower()
    places = (place for place, char in enumerate(tail) if char in MARK_STARTS)
    return len(tail) - next((place for place in places if _may_become(tail[place:], marks)), len(tail))


def _may_become(text: str, marks: tuple[str, ...]) -> bool:
    return _may_be_tag(text) or any(mark.startswith(text) for mark in marks)


def _may_be_tag(text: str) -> bool:
    found = MAYBE_TAG.fullmatch(text)
    return found is not None and (found["begun"] is None or any(tag.startswith(found["begun"]) for tag in TAGS))


def is_spoken_of(before: Before, after: str, *, is_last: bool) -> bool | None:
    """Tell whether a mark between these texts is in code or quotes; None if that depends on more text."""
    if before.is_in_fence:
        return True
    rest, line_end, _ = after.partition("\n")
    if before.is_in_ticks:
        return None if "`" not in rest and not line_end and not is_last else "`" in rest
    closing = QUOTES.get(before.last)
    if closing is None:
        return False
    return None if not after and not is_last else after.startswith(closing)


def is_sentence(block: str, after: str, *, is_last: bool) -> bool | None:
    """Tell whether a block at the start of a text is a sentence about its own marks; None if that depends on more text.

    `<think> opens a block and </think> closes it` is one: it is all on one line, a space or comma sets its words off
    from the first mark, and the sentence continues behind the second.
    """
    if "\n" in block or not SPEAKING.match(block):
        return False
    if after in {"", " "} and not is_last:
        return None
    return after[:1] in GOES_ON or (after.startswith(" ") and after[1:2].islower())


def ends_reasoning(before: Before, after: str, *, is_last: bool, is_cut: bool) -> bool | None:
    """Tell whether a closing mark without an opening one ends reasoning; None if that depends on more text.

    It does if it is on a line of its own or directly behind the last word, and an answer follows, or the text was cut
    before one could.
    """
    if not after.strip() and not is_cut:
        return False if is_last else None
    spoken_of = is_spoken_of(before, after, is_last=is_last)
    if spoken_of is not False:
        return None if spoken_of is None else False
    if before.is_line_blank:
        return before.said != ":"
    if before.last.isspace() or before.last in SPOKEN_OF_AFTER:
        return False
    return before.last.isascii() or before.last in SENTENCE_ENDS or after.startswith("\n")
