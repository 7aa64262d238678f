"""What every part does to text alike: make it storable, take hidden reasoning out, fold it for search."""

import re
import unicodedata

THINKING = re.compile(r"<think>(.*?)(?:</think>|\Z)", re.DOTALL)
UNOPENED_THINKING = re.compile(r"\A((?:(?!<think>).)*?)</think>", re.DOTALL)
UNSPACED_SCRIPTS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
CJK_START = "\u2e80"
FTS_TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc So'"


def storable(text: str) -> str:
    """Return the text with split surrogate pairs joined and lone halves replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def split_thinking(text: str) -> tuple[str, str]:
    """Return the visible text and the hidden reasoning that stood in `<think>` tags, closed or not, anywhere."""
    if "<think>" not in text and "</think>" not in text:
        return text, ""
    hidden: list[str] = []

    def hide(found: re.Match[str]) -> str:
        hidden.append(found.group(1).strip())
        return ""

    visible = THINKING.sub(hide, UNOPENED_THINKING.sub(hide, text, count=1))
    return visible.strip(), "\n\n".join(part for part in hidden if part)


def shorten(text: str, limit: int) -> str:
    """Return the text on one line, cut at a word and marked with `…` when it is longer than `limit` characters."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[limit // 2 :] else cut).rstrip() + "…"


def fold(text: str) -> str:
    """Return the text as it is compared: compatibility form, no case, nothing that SQLite cannot bind."""
    return unicodedata.normalize("NFKC", storable(text).replace("\0", " ")).casefold()


def index_text(text: str) -> str:
    """Return the text as it is indexed: folded, with each character of an unspaced script a word of its own."""
    return UNSPACED_SCRIPTS.sub(r" \g<0> ", fold(text))


def match_query(query: str, stopwords: frozenset[str] = frozenset()) -> str:
    """Return an FTS5 expression of quoted terms joined by OR; empty when there is nothing to look for."""
    words = fold(query).split()
    terms: list[str] = []
    for word in [word for word in words if word.strip("?!.,;:()\"'") not in stopwords] or words:
        run = UNSPACED_SCRIPTS.findall(word)
        if len(run) == len(word) > (4 if word[0] >= CJK_START else 12):
            terms += [f"{one} {two}" for one, two in zip(run, run[1:], strict=False)]
        else:
            terms.append(UNSPACED_SCRIPTS.sub(r" \g<0> ", word))
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms if any(map(str.isalnum, term)))
