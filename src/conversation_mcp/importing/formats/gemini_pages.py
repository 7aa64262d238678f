"""Google's activity as HTML, read record by record into the form that the same export has in JSON."""

import html
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone

from conversation_mcp.importing.base import ImportProblem, SourceFile
from conversation_mcp.importing.messages import Data

CHUNK_BYTES, HEAD_BYTES, MAX_CELL_BYTES = 256 * 1024, 1024 * 1024, 64 * 1024 * 1024
CELL = b'<div class="outer-cell'
BODY = re.compile(r'<div class="[^"<>]{0,200}\bcontent-cell\b[^"<>]{0,200}\bbody-1"[^<>]{0,200}>')
HEADER = re.compile(r'<p class="[^"<>]{0,200}\btypography--title"[^<>]{0,200}>(.{0,500}?)</p>', re.DOTALL)
DIV = re.compile(r"<(/?)div\b[^<>]{0,2000}>", re.IGNORECASE)
LINE_END = re.compile(r"<br\s*/?>", re.IGNORECASE)
BLOCK = re.compile(r"<(?:p|div|h[1-6]|ul|ol|pre|table|blockquote|hr)\b", re.IGNORECASE)
TAG = re.compile(r"<[^<>]*>")
LINK = re.compile(r'<a\b[^<>]{0,500}?\bhref="([^"<>]{0,2000})"[^<>]{0,500}>(.{0,1000}?)</a>', re.DOTALL | re.IGNORECASE)
ATTACHED = re.compile(r"attached \d+ files?\.?|\d+ attachments?\.?", re.IGNORECASE)
"""The line above the names of attachments."""
DATE = re.compile(r"(?=.*\b20[0-9]{2}\b)(?=.*\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}\b)[\w\s.,:/+-]{10,60}")
CLOCK = re.compile(r"\b([0-9]{1,2}):([0-9]{2}):([0-9]{2})\b\s*([AP]M)?\s*(.*)", re.IGNORECASE)
OFFSET = re.compile(r"(?:GMT|UTC)?([+-])([0-9]{1,2}):?([0-9]{2})?")
YEAR = re.compile(r"\b20[0-9]{2}\b")
NUMBERS = re.compile(r"[0-9]+")
MONTH = re.compile(r"[^\W\d_]{3,}")
MONTHS = {
    name: number
    for number, names in enumerate(
        ("jan gen ene", "feb fev fév", "mar mär mrt", "apr abr avr", "may mai mag maj mei", "jun giu juin",
         "jul lug juil", "aug ago aoû", "sep set", "oct okt ott out", "nov", "dec dez dic déc"),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
"""By the beginnings of their names in the languages of known exports."""
ZONES = {"EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8, "BRT": -3, "BST": 1,
         "CET": 1, "MEZ": 1, "CEST": 2, "MESZ": 2, "EET": 2, "EEST": 3, "JST": 9, "NZST": 12, "NZDT": 13}  # fmt: skip


def is_activity(file: SourceFile) -> bool:
    """Tell whether a file is an activity page that names Gemini."""
    if not file.name.lower().endswith((".html", ".htm")):
        return False
    with closing(file.open()) as opened:
        head = opened.read(HEAD_BYTES)
    return CELL in head and (b"Gemini" in head or b"Bard" in head)


def records_of(file: SourceFile, on_read: Callable[[int], None]) -> Iterator[tuple[str, Data] | ImportProblem]:
    """Yield the records of Gemini, each with its place, without holding the page in memory."""
    for number, cell in enumerate(_cells(file, on_read), start=1):
        place = f"{file.name}, record {number:,}"
        if cell is None:
            yield ImportProblem(place, f"is longer than the limit of {MAX_CELL_BYTES >> 20} MiB")
        elif facts := _record(cell.decode(errors="replace")):
            yield place, facts


def _cells(file: SourceFile, on_read: Callable[[int], None]) -> Iterator[bytes | None]:
    """Yield each record as HTML; None for one that is too long."""
    kept, begun, is_too_long = b"", False, False
    with closing(file.open()) as opened:
        while chunk := opened.read(CHUNK_BYTES):
            on_read(len(chunk))
            first, *others = (kept + chunk).split(CELL)
            for following in others:
                if begun:
                    yield None if is_too_long else first
                first, begun, is_too_long = following, True, False
            is_too_long = is_too_long or len(first) > MAX_CELL_BYTES
            # The beginning of the next record may be divided between two chunks.
            kept = first[-len(CELL) :] if is_too_long or not begun else first
    if begun:
        yield None if is_too_long else kept


def _record(cell: str) -> Data:
    """Return the record in the form of JSON; an empty one if it belongs to another product or has no text."""
    header, body = HEADER.search(cell), BODY.search(cell)
    product = _words(header[1]) if header else "Gemini"
    if body is None or not ("Gemini" in product or "Bard" in product):
        return {}
    inside = _inside(cell, body.end())
    before, answer, moment = _parted(inside)
    title, *lines = before or [""]
    files = [{"name": _words(words), "url": html.unescape(address)} for address, words in LINK.findall("".join(lines))]
    asked = [title, *(line for line in lines if not LINK.search(line) and not ATTACHED.fullmatch(_words(line)))]
    link = LINK.search(title)
    return {
        "header": product,
        "title": "\n".join(map(_words, asked)).strip(),
        "titleUrl": html.unescape(link[1]) if link else None,
        "time": moment.isoformat() if moment else None,
        "subtitles": files,
        "safeHtmlItem": [{"html": answer}] if answer.strip() else [],
    }


def _inside(cell: str, begin: int) -> str:
    """Return the content of the element that begins there, with the elements in it."""
    depth = 1
    for found in DIV.finditer(cell, begin):
        depth += -1 if found[1] else 1
        if not depth:
            return cell[begin : found.start()]
    return cell[begin:]


def _parted(inside: str) -> tuple[list[str], str, datetime | None]:
    """Return the lines before the time, the rest after it, and the time, which is the last such line before blocks."""
    block = BLOCK.search(inside)
    limit = block.start() if block else len(inside)
    ends = [found.span() for found in LINE_END.finditer(inside)]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), len(inside)]
    lines = [(start, stop) for start, stop in zip(starts, stops, strict=True) if start < limit or start == 0]
    for place in range(len(lines) - 1, 0, -1):
        start, stop = lines[place]
        words = _words(inside[start : min(stop, limit)])
        if DATE.fullmatch(words):
            before = [inside[begin:end] for begin, end in lines[:place]]
            rest = inside[min(stop, limit) :]
            return before, LINE_END.sub("", rest, count=1) if stop < limit else rest, _moment(words)
    return [inside[:limit]], inside[limit:], None


def _moment(words: str) -> datetime | None:
    """Return the time of a line such as `Feb 2, 2026, 7:24:02 AM GMT+01:00`; an unknown zone counts as UTC."""
    clock = CLOCK.search(words)
    if clock is None:
        return None
    before = words[: clock.start()]
    year = YEAR.search(before)
    month = next((known for name in MONTH.findall(before.lower()) if (known := _month(name))), None)
    others = [int(each) for each in NUMBERS.findall(YEAR.sub(" ", before))]
    if year is None or len(others) != (1 if month else 2):
        return None
    if month is None:  # a numeric date is in the order year-month-day or ends with the year
        month = others.pop(1 if NUMBERS.search(before[: year.start()]) else 0)
    hour = int(clock[1]) % 12 + 12 * (clock[4].upper() == "PM") if clock[4] else int(clock[1])
    try:
        return datetime(int(year[0]), month, others[0], hour, int(clock[2]), int(clock[3]), tzinfo=_zone(clock[5]))
    except ValueError:
        return None


def _month(name: str) -> int | None:
    return MONTHS.get(name[:4]) or MONTHS.get(name[:3])


def _zone(name: str) -> timezone:
    name = name.strip().upper()
    if found := OFFSET.search(name):
        minutes = int(found[2]) * 60 + int(found[3] or 0)
        return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes))
    return timezone(timedelta(hours=ZONES.get(name, 0)))


def _words(markup: str) -> str:
    # A narrow space stands before AM and PM.
    text = html.unescape(TAG.sub("", markup)).replace("\u202f", " ")
    return "\n".join(" ".join(line.split()) for line in text.split("\n")).strip()
