"""Decoding of text files: as UTF, in the encoding that the file declares, or in one that is beyond doubt."""

import codecs
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from conversation_mcp.documents.western import is_mostly_western, western

# UTF-32 comes before UTF-16, whose little-endian mark is the beginning of its own.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
ESCAPE, STATEFUL_SIGNS = b"\x1b", re.compile(rb"\x1b|~\{")
STATEFUL = re.compile(r"iso[-_]?2022|hz")
"""Encodings whose bytes are all ASCII, so that their files are valid UTF-8 as well."""
WESTERN = frozenset({"cp1252", "iso-8859-15", "mac_roman"})
NO_TEXT = re.compile(r"utf[-_]?(?:7|16|32)|idna|punycode|undefined|mbcs|oem|.*escape")
"""Encodings in which the declaration itself could not have been read, and codecs that are not for files."""
COMMENTS = re.compile(rb"<!--.*?-->", re.DOTALL)
SAMPLE_BYTES = 65_536
MAX_LOST_SHARE = 0.02
"""How many of the letters outside ASCII may be broken in a declared encoding."""
MIN_KEPT, MAX_STRAY_SHARE = 2, 0.005
"""How many letters of valid UTF-8 outweigh a broken byte; how much of an ASCII file may be in another encoding."""
FAMILY = re.compile(r"(?:8bit-|2byte-|x-)?(?:windows|win|cp|ibm|dos|ms)[-_ ]?(\d{3,5})")
# Emacs names the line ends together with the encoding, as in `latin-1-unix`.
LINE_ENDS = re.compile(r"-(?:unix|dos|mac)\Z")
PRINTABLE_ASCII = frozenset(range(0x20, 0x7F))
UNSEEN = frozenset("\xad\u200b\u200c\u200d\ufeff")


class UnknownEncodingError(Exception):
    """The bytes are text, but their encoding cannot be determined."""


@dataclass(frozen=True)
class _Declaration:
    suffixes: frozenset[str]
    pattern: re.Pattern[bytes]
    max_bytes: int
    max_lines: int
    is_at_end_too: bool

    def named_in(self, data: bytes) -> str | None:
        head = data[: self.max_bytes]
        if self.max_lines:
            lines = head.splitlines()[: self.max_lines]
            last = data[-self.max_bytes :].splitlines()[-self.max_lines :] if self.is_at_end_too else []
            head = b"\n".join(lines + last)
        found = self.pattern.search(COMMENTS.sub(b"", head) if self.suffixes & {".html", ".xml"} else head)
        return next((name.decode("ascii", "replace") for name in found.groups() if name), None) if found else None


def decoded(data: bytes, suffix: str = "") -> str | None:
    """Return the text of a file whose name ends in `suffix`; None if the bytes are not text.

    Raises:
        UnknownEncodingError: they are not UTF, and their encoding is neither declared nor beyond doubt.
    """
    mark = next((encoding for mark, encoding in MARKS if data.startswith(mark)), None)
    if mark:
        return data.decode(mark, "replace")
    if b"\0" in data:
        return _unmarked_utf(data)
    try:  # before any declaration: other encodings are hardly ever valid UTF-8, but declarations are often wrong
        text = data.decode()
    except UnicodeDecodeError:
        text = _mostly_utf8(data) or _in_declared(data, _declared(data, suffix)) or western(data) or _mostly_ascii(data)
        if text is None:
            raise UnknownEncodingError from None
        return text
    if STATEFUL_SIGNS.search(data):
        declared = _declared(data, suffix)
        if ESCAPE in data or (declared and STATEFUL.match(declared)):
            return _in_declared(data, declared) or _japanese(data) or text
    return text


def _unmarked_utf(data: bytes) -> str | None:
    """Read UTF-16 and UTF-32 without a byte order mark, which the zero bytes of spaces and Latin letters reveal."""
    for little, big in (("utf-32-le", "utf-32-be"), ("utf-16-le", "utf-16-be")):
        texts = [text for codec in (little, big) if (text := _plain(data, codec))]
        text = max(texts, key=_plain_chars, default="")
        if _plain_chars(text) and not _is_pairs_of_ascii(text):
            return text
    return None


def _plain(data: bytes, codec: str) -> str | None:
    """Return the text, if all of its characters are printable or spaces."""
    try:
        text = data.decode(codec)
    except UnicodeDecodeError:
        return None
    return text if all(char.isprintable() or char.isspace() or char in UNSEEN for char in text) else None


def _plain_chars(text: str) -> int:
    return sum(map(str.isascii, text))


def _is_pairs_of_ascii(text: str) -> bool:
    """Tell whether most characters of other scripts are really two ASCII characters side by side."""
    others = [ord(char) for char in text[:SAMPLE_BYTES] if not char.isascii()]
    return sum({code >> 8, code & 0xFF} <= PRINTABLE_ASCII for code in others) * 2 > len(others)


def _mostly_utf8(data: bytes) -> str | None:
    """Return the text of UTF-8 with a few broken bytes."""
    readable = data.decode("utf-8", "ignore")
    lost = len(data) - len(readable.encode())
    kept = sum(not char.isascii() for char in readable)
    return data.decode("utf-8", "replace") if kept >= MIN_KEPT * lost else None


def _mostly_ascii(data: bytes) -> str | None:
    """Return the text of ASCII with a few unknown bytes, which are replaced by signs."""
    stray = len(data) - len(data.decode("ascii", "ignore"))
    return data.decode("utf-8", "replace") if stray <= MAX_STRAY_SHARE * len(data) else None


def _in_declared(data: bytes, declared: str | None) -> str | None:
    if declared is None:
        return None
    text = data.decode(declared, "replace")
    others = len(text) - _plain_chars(text)
    is_broken = text.count("\ufffd") > MAX_LOST_SHARE * others
    is_mistaken = declared in WESTERN and not is_mostly_western(text)  # many programs declare these by default
    return None if is_broken or is_mistaken else text


def _japanese(data: bytes) -> str | None:
    try:
        return data.decode("iso2022_jp_2")
    except UnicodeDecodeError:
        return None


def _declared(data: bytes, suffix: str) -> str | None:
    """Return the encoding that the file names, as Python calls it."""
    facts = _facts()
    for declaration in facts.declarations:
        if declaration.suffixes and suffix not in declaration.suffixes:
            continue
        meant = _meant((declaration.named_in(data) or "").lower(), facts.meanings)
        if meant and not NO_TEXT.match(meant) and _is_known(meant):
            return meant
    return None


def _meant(name: str, meanings: Mapping[str, str]) -> str:
    name = LINE_ENDS.sub("", name)
    if name not in meanings and (family := FAMILY.fullmatch(name)):
        name = f"cp{family[1]}"
    return meanings.get(name, name)


def _is_known(name: str) -> bool:
    try:
        b"a".decode(name)
    except (LookupError, ValueError):  # LookupError also for a codec that is not for text
        return False
    return True


@dataclass(frozen=True)
class _Facts:
    meanings: Mapping[str, str]
    declarations: tuple[_Declaration, ...]


@cache
def _facts() -> _Facts:
    data: dict[str, Any] = tomllib.loads(
        files("conversation_mcp.documents").joinpath("charsets.toml").read_text("utf-8")
    )
    declarations = tuple(
        _Declaration(
            frozenset(one.get("suffixes", ())),
            re.compile(one["pattern"].encode(), re.IGNORECASE | re.MULTILINE),
            one.get("bytes", 2_048),
            one.get("lines", 0),
            one.get("is_at_end_too", False),
        )
        for one in data["declarations"]
    )
    return _Facts(data["meanings"], declarations)
