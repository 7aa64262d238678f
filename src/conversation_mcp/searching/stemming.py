"""Stems of English words, shared by the forms of a word, and roots, shared also by the words derived from it."""

MIN_STEM_CHARS = 3
VOWELS = frozenset("aeiouy")
ROOT_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "ors", "er", "or", "es", "ed", "s", "e", "y")


def stem(word: str) -> str:
    """Return the stem that the forms of an English word share; it need not be a word itself."""
    if not word.isalpha():
        return word
    for ending, instead in (("ies", "y"), ("ied", "y"), ("ying", "y")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word[: -len(ending)] + instead
    return _without_double(_without_e(_without_suffix(_singular(word))))


def root(word: str) -> str:
    """Return the root that an English word shares with words derived from it, as `configuration` with `configure`.

    Words are not indexed by their roots, because unrelated words share roots too.
    """
    for ending in ROOT_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM_CHARS:
            start = word.removesuffix(ending)
            return start[:-1] if len(start) > MIN_STEM_CHARS and start[-1] == start[-2] else start
    return word


def _singular(word: str) -> str:
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > MIN_STEM_CHARS:
        return word[:-1]
    return word


def _without_suffix(word: str) -> str:
    for suffix in ("ing", "ed"):
        start = word.removesuffix(suffix)
        if start != word and len(start) >= MIN_STEM_CHARS and VOWELS & set(start) and not word.endswith("eed"):
            return start
    return word


def _without_e(word: str) -> str:
    return word[:-1] if word.endswith("e") and len(word) > MIN_STEM_CHARS else word


def _without_double(word: str) -> str:
    is_double = len(word) > MIN_STEM_CHARS and word[-1] == word[-2] and word[-1] not in VOWELS | {"s"}
    return word[:-1] if is_double else word
