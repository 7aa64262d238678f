"""WordPiece: a text as the numbers of the pieces of words that a BERT model knows."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping

START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
INNER = "##"
"""Begins pieces that do not begin a word."""
# As the model was trained: a longer word is unknown to it.
MAX_WORD_CHARS = 100
REMEMBERED_WORDS = 50_000
IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)
"""What the model was trained to take for Chinese characters, each of which is a word."""
# As the model was trained: some of these are no punctuation in Unicode.
ASCII_SIGNS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


class WordPiece:
    """Cuts texts into the pieces of a vocabulary. Marks of the model, such as `[SEP]`, are text like any other."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._numbers: Mapping[str, int] = {piece: number for number, piece in enumerate(vocabulary)}
        self._known: dict[str, tuple[int, ...]] = {}

    def numbers(self, text: str, max_pieces: int) -> list[int]:
        """Return the numbers of the pieces, between those of the marks of start and end; the rest is cut."""
        found = [self._numbers[START]]
        # A piece has at least one character, so what lies far behind the last one need not be looked at.
        for word in _words(text[: max_pieces * MAX_WORD_CHARS]):
            found += self._pieces(word)
            if len(found) >= max_pieces:
                break
        return [*found[: max_pieces - 1], self._numbers[END]]

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= REMEMBERED_WORDS:
                self._known.clear()
            known = self._known[word] = tuple(self._cut(word))
        return known

    def _cut(self, word: str) -> list[int]:
        """Take the longest piece that fits, again and again; a word of which any part is unknown is unknown."""
        pieces: list[int] = []
        start = 0
        while start < len(word) <= MAX_WORD_CHARS:
            ends = range(len(word), start, -1)
            prefix = INNER if start else ""
            end = next((end for end in ends if prefix + word[start:end] in self._numbers), None)
            if end is None:
                break
            pieces.append(self._numbers[prefix + word[start:end]])
            start = end
        return pieces if start == len(word) else [self._numbers[UNKNOWN]]


def _words(text: str) -> Iterator[str]:
    """Yield words and signs, in lower case and without accents."""
    if text.isascii():
        spaced = "".join(f" {char} " if char in ASCII_SIGNS else _cleaned(char) for char in text.lower())
        yield from spaced.split()
        return
    plain = unicodedata.normalize("NFD", "".join(map(_cleaned, text)).lower())
    kept = (char for char in plain if unicodedata.category(char) != "Mn")
    yield from "".join(f" {char} " if _stands_alone(char) else char for char in kept).split()


def _cleaned(char: str) -> str:
    if char in "\t\n\r" or char.isspace():
        return " "
    is_lost = char in "\0\ufffd" or unicodedata.category(char).startswith("C")
    return "" if is_lost else char


def _stands_alone(char: str) -> bool:
    if char.isascii():
        return char in ASCII_SIGNS
    code = ord(char)
    return unicodedata.category(char).startswith("P") or any(first <= code <= last for first, last in IDEOGRAPHS)
