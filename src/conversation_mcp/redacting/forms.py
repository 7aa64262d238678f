"""The forms of what patterns find: what tells a key from a placeholder, and a number of a card from any other."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from math import log2
from typing import Literal

Form = Literal["any", "token", "password", "drawn", "card", "iban", "phone"]
MIN_BITS = 3.2
"""The bits of chance for each character that words and names do not have."""
MIN_DISTINCT = 5
PLACEHOLDER = re.compile(
    r"(?i)your|change.?me|change.?it|example|sample|placeholder|dummy|fake|mock|redacted|secret.?here|not.?a|x{4,}|"
    r"\*{3,}|\.{3}|todo|fixme|12345|abcde|qwerty|0000|foo|bar\b|test|p[a@]ssw(?:o|0)?r?d|^secret|^token|lorem|none|null"
)
VARIABLE = re.compile(r"\$[{(\w]|[{}<>\\|]|%[({s]|&\w+;")
NAME = re.compile(
    r"[a-z_]+(?:[._/-][a-z_]+)*|[A-Z_]+(?:[._/-][A-Z_]+)*|\.{0,2}/.*|.*(?:://|\w\().*|[a-z0-9_.-]+(?:/[a-z0-9_.-]+)+/?|"
    r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|(?:[A-Z]*[a-z]{2,}|[A-Z]{2,}|[A-Z]?\d{1,5})+"
)
"""A path, an expression, or a name that is made of words."""
EXAMPLE_HOST = re.compile(
    r"(?i)(?:.*\.)?example(?:\.\w+)?|host(?:name)?|server|localhost|127\.0\.0\.1|\[?::1\]?|proxy|domain.*"
)
CARDS = re.compile(
    r"4(?:\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|"
    r"3(?:0[0-5]|[689]\d)\d{11,13}|(?:50|5[6-9]|6\d)\d{14}(?:\d{3})?|35\d{14}"
)
"""Who issues cards, by the first digits, and how long their numbers are."""
IBAN_CHARS = {
    each[:2]: int(each[2:])
    for each in [
        "AD24",
        "AE23",
        "AL28",
        "AT20",
        "AZ28",
        "BA20",
        "BE16",
        "BG22",
        "BH22",
        "BR29",
        "BY28",
        "CH21",
        "CR22",
        "CY28",
        "CZ24",
        "DE22",
        "DK18",
        "DO28",
        "EE20",
        "EG29",
        "ES24",
        "FI18",
        "FO18",
        "FR27",
        "GB22",
        "GE22",
        "GI23",
        "GL18",
        "GR27",
        "GT28",
        "HR21",
        "HU28",
        "IE22",
        "IL23",
        "IQ23",
        "IS26",
        "IT27",
        "JO30",
        "KW30",
        "KZ20",
        "LB28",
        "LC32",
        "LI21",
        "LT20",
        "LU20",
        "LV21",
        "LY25",
        "MC27",
        "MD24",
        "ME22",
        "MK19",
        "MR27",
        "MT31",
        "MU30",
        "NL18",
        "NO15",
        "PK24",
        "PL28",
        "PS29",
        "PT25",
        "QA29",
        "RO24",
        "RS22",
        "SA24",
        "SC31",
        "SE24",
        "SI19",
        "SK24",
        "SM27",
        "ST25",
        "SV28",
        "TL23",
        "TN24",
        "TR26",
        "UA29",
        "VA22",
        "VG24",
        "XK20",
    ]
}
"""How long the numbers of each country are."""
PHONE_DIGITS = range(9, 16)
FEWEST_SAID_DIGITS = 6
"""Of a number that the text calls a phone number."""


def _token(found: re.Match[str], value: str) -> int:
    return 0 if found.re.groups and _is_placeholder(value) else len(value)


def _password(found: re.Match[str], value: str) -> int:
    place = found.groupdict().get("place")
    if _is_placeholder(value) or VARIABLE.search(value):
        return 0
    if place:
        return 0 if EXAMPLE_HOST.fullmatch(place) else len(value)
    is_mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return len(value) if is_mixed and not NAME.fullmatch(value) else 0


def _drawn(found: re.Match[str], value: str) -> int:
    return _password(found, value) if _bits(value) >= MIN_BITS else 0


def _card(_found: re.Match[str], value: str) -> int:
    digits = _digits(value)
    if len(set(digits)) == 1 or not CARDS.fullmatch(digits):
        return 0
    doubled = (divmod(int(digit) * (1 + place % 2), 10) for place, digit in enumerate(reversed(digits)))
    return len(value) if sum(map(sum, doubled)) % 10 == 0 else 0


def _iban(_found: re.Match[str], value: str) -> int:
    """Return how much of the value is an IBAN: words may follow it that look like parts of it."""
    wanted = IBAN_CHARS.get(value[:2].upper())
    if wanted is None:
        return 0
    ends = [place + 1 for place, character in enumerate(value) if character.isalnum()]
    if len(ends) < wanted:
        return 0
    length = ends[wanted - 1]
    plain = "".join(filter(str.isalnum, value[:length])).upper()
    if length < len(value) and value[length].isalnum():
        return 0
    number = "".join(str(int(character, 36)) for character in plain[4:] + plain[:4])
    return length if int(number) % 97 == 1 else 0


def _phone(found: re.Match[str], value: str) -> int:
    digits = _digits(value)
    is_said = found.start() < found.start("value")
    fewest = FEWEST_SAID_DIGITS if is_said else PHONE_DIGITS.start
    return len(value) if fewest <= len(digits) < PHONE_DIGITS.stop + 2 * digits.startswith("00") else 0


LENGTH_OF: Mapping[Form, Callable[[re.Match[str], str], int]] = {
    "any": lambda _, value: len(value),
    "token": _token,
    "password": _password,
    "drawn": _drawn,
    "card": _card,
    "iban": _iban,
    "phone": _phone,
}
"""How many characters of what was found are such a thing; 0 if it is none."""


def _is_placeholder(value: str) -> bool:
    return bool(PLACEHOLDER.search(value)) or len(set(value)) < MIN_DISTINCT


def _digits(value: str) -> str:
    return "".join(character for character in value if character in "0123456789")


def _bits(value: str) -> float:
    """Return how much chance there is in each character of a value, by how often each occurs in it."""
    total = len(value)
    return -sum(count / total * log2(count / total) for count in Counter(value).values())
