"""An estimate of the number of tokens of a text, without a tokenizer."""

import math
import re
from collections.abc import Iterable

from conversation_mcp.records.chat import ChatMessage

TOKENS_PER_MESSAGE = 4
"""The tokens of the role and the marks around a message."""
RESERVE = 0.1
"""The part of a limit that is kept free, because estimates can be too low."""

BLOB = re.compile(r"[A-Za-z0-9+/_=-]{64,}")
PIECE = re.compile(r"([A-Za-z]+)|([0-9]+)|([^\x00-\x7f]+)|([ \t\r\n]+)|([!-/:-@\[-`{-~]+)|(.)", re.DOTALL)
BLOB_CHARS_PER_TOKEN = 1.45
FEWEST_CHARS_PER_TOKEN = 16
"""A lower bound of one token per so many characters; without it, long runs of white space would seem to have fewer."""

SHORT_WORD, CHARS_PER_WORD_PART = 7, 4.5
LONE_SPACE, LONE_MARK = 0.02, 0.85
CJK, ASTRAL, ACCENTED, OTHER = 0.8, 1.2, 0.45, 0.29
MOST_TOKENS_PER_CHAR = ASTRAL


def estimated_tokens(text: str) -> int:
    """Return the estimated number of tokens; takes time linear in the length of any text."""
    rest, blobs = _without_blobs(text)
    tokens = blobs + sum(_piece(*match.groups(default="")) for match in PIECE.finditer(rest))
    return math.ceil(max(tokens, len(text) / FEWEST_CHARS_PER_TOKEN))


def tokens_of(messages: Iterable[ChatMessage]) -> int:
    """Return the estimated number of tokens of the messages."""
    return sum(estimated_tokens(message.content) + TOKENS_PER_MESSAGE for message in messages)


def most_tokens_of(messages: Iterable[ChatMessage]) -> int:
    """Return an upper bound of `tokens_of` that needs only the lengths of the texts."""
    return sum(math.ceil(len(message.content) * MOST_TOKENS_PER_CHAR) + TOKENS_PER_MESSAGE for message in messages)


def usable(limit_tokens: int) -> int:
    """Return how much of a limit an estimate may fill."""
    return int(limit_tokens * (1 - RESERVE))


def _without_blobs(text: str) -> tuple[str, float]:
    tokens = 0.0

    def take(match: re.Match[str]) -> str:
        nonlocal tokens
        blob = match.group()
        # Only a mix of all three is base64 or the like; a long identifier or a ruler is estimated as words.
        kinds = (str.isdigit, str.islower, str.isupper)
        if not all(any(map(is_kind, blob)) for is_kind in kinds):
            return blob
        tokens += len(blob) / BLOB_CHARS_PER_TOKEN
        return "\n"

    return BLOB.sub(take, text), tokens


def _piece(letters: str, digits: str, foreign: str, spaces: str, marks: str, other: str) -> float:
    if letters:
        long = len(letters) - SHORT_WORD
        return 1 if long <= 0 else 1 + long / CHARS_PER_WORD_PART
    if digits:
        return math.ceil(len(digits) / 3)
    if foreign:
        return sum(map(_foreign, foreign))
    if spaces:
        return 1 if len(spaces) > 1 or spaces == "\n" else LONE_SPACE
    rest = marks or other
    return LONE_MARK if len(rest) == 1 else math.ceil(len(rest) / 2)


def _foreign(character: str) -> float:
    code = ord(character)
    if 0x2E80 <= code <= 0xD7A3 or 0xF900 <= code <= 0xFAFF:  # noqa: PLR2004 -- borders of scripts
        return CJK
    if code >= 0x10000:  # noqa: PLR2004 -- the same
        return ASTRAL
    return ACCENTED if code < 0x250 else OTHER  # noqa: PLR2004 -- the same
