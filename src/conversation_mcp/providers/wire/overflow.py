"""Recognition of refusals of a conversation that is too long. Every server words them differently."""

import re
from typing import NamedTuple

from conversation_mcp.providers.wire.json_values import JsonObject, count_at, object_at

KIND = re.compile(
    r"context.{0,12}(?:exceed|overflow)|exceed.{0,4}context|context_(?:length|window)"
    r"|(?:prompt|input|request|content|messages?)_(?:is_)?too_(?:long|large)|tokens?_exceed",
    re.IGNORECASE,
)
CHINESE = re.compile("(?:上下文|输入|提示词?|請求|请求|輸入).{0,24}(?:超过|超出|超過|过长|過長|超长)")
CONTEXT = r"context[ _-]?(?:length|size|window|limit)|n_ctx|num_ctx|max_(?:seq|model)_len"
SENT = f"{CONTEXT}|context|prompt|inputs?|input_tokens|request(?:ed)?|messages?|conversation|sequence"
SIZE = f"{CONTEXT}|tokens?|input_tokens|length|size|long|large|big|longer|larger|bigger|characters"
TOO_MUCH = (
    r"too|exceed\w*|overflow\w*|longer|larger|bigger|more|greater|beyond|max(?:imum)?|only|fit|less|fewer|limit"
    "|reduce|at most|should be|not enough"
)
ALL_OF = tuple(re.compile(rf"(?<![a-z_])(?:{words})(?![a-z])", re.IGNORECASE) for words in (SENT, SIZE, TOO_MUCH))
"""A refusal for length names something that was sent, a size, and an excess."""
OUTPUT = re.compile(
    r"^\W*(?:(?:parameter|the|invalid|value|of)\W+)*max_(?:completion_|output_|new_)?tokens\b", re.IGNORECASE
)
OTHER = re.compile(
    r"\b(?:quota|budget|credits?|balance|billing|rate|monthly|daily|concurrent|memory|[GM]i?B|timed? ?out|seconds)\b"
    r"|\b(?:wait|queue)\b|\bflagged\b|\bpassword\b|\bper (?:minute|min|day|hour|month|second)|\b[TR]PM\b",
    re.IGNORECASE,
)
OTHER_PARTS = re.compile(
    r"\b(?:images?|files?|audio|tools?|functions?|names?|stop|domains?|schema|metadata|titles?)\b", re.IGNORECASE
)
TOO_LITTLE = re.compile(
    r"\b(?:must|should) be (?:longer|larger|bigger|more|greater)\b|\btoo (?:short|small)\b", re.IGNORECASE
)
TOKENS_OVER = re.compile(r"\btoo many tokens\b|\btokens?\b.{0,20}\bexceed", re.IGNORECASE)
"""Phrases that are enough without a word for what was sent."""
OVER_CONTEXT = re.compile(CONTEXT, re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.,-])[0-9]{1,3}(?:,[0-9]{3})+(?![\w-])|(?<![\w.,-])[0-9]{3,9}(?![\w-])")
SUM = re.compile(r"[0-9]\s*\+\s*[0-9]")


class Overflow(NamedTuple):
    """The tokens that the conversation needs and the model accepts, if the server says so."""

    needed_tokens: int | None = None
    window_tokens: int | None = None


def overflow_in(error: JsonObject, kind: str, text: str) -> Overflow | None:
    """Return what an error says about a conversation that is too long; None if it is about something else."""
    # llama.cpp has fields for both numbers.
    told = Overflow(_count(error, "n_prompt_tokens"), _count(error, "n_ctx"))
    if None not in told:
        return told
    if KIND.search(kind) or CHINESE.search(text) or KIND.search(text.partition(" ")[0]) or _is_about_length(text):
        return _numbers(text)
    return None


def _is_about_length(text: str) -> bool:
    if any(about.search(text) for about in (OUTPUT, OTHER, TOO_LITTLE)):
        return False
    if not TOKENS_OVER.search(text) and not all(words.search(text) for words in ALL_OF):
        return False
    return OVER_CONTEXT.search(text) is not None or OTHER_PARTS.search(text) is None


def _count(error: JsonObject, name: str) -> int | None:
    count = count_at(error, name)
    return count_at(object_at(error, "metadata"), name) if count is None else count


def _numbers(text: str) -> Overflow:
    """Return the first two numbers: whatever their order, the larger one did not fit into the smaller one."""
    said = [int(number.replace(",", "")) for number in NUMBER.findall(text)][:2]
    is_clear = len(said) > 1 and said[0] != said[1] and not SUM.search(text)
    return Overflow(max(said), min(said)) if is_clear else Overflow()
