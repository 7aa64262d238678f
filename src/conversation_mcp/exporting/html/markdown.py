"""Markdown as HTML that is safe to open: raw HTML is escaped, links lead to web and mail only, images become links."""

import re
from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

if TYPE_CHECKING:
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.utils import EnvType, OptionsDict

LINK = re.compile(r"(?:https?://[^/?#]|mailto:)", re.IGNORECASE)
LINK_ATTRIBUTES = ' rel="noopener noreferrer nofollow" target="_blank"'
CITATION = re.compile(r"\[([0-9]{1,6})\]")
DEEPEST_HEADING = 6
SCROLLED = '<pre tabindex="0">'
"""A block that may be wider than the page must be within reach of the keyboard."""
MAX_MARKDOWN_CHARS, MAX_PARAGRAPH_CHARS = 200_000, 10_000
"""Longer texts stay plain: hostile Markdown takes time that grows with the square of its length."""


class RenderedText(NamedTuple):
    """The HTML of a text, and the numbers that it cites."""

    html: str
    cited: frozenset[int]


class SafeMarkdown(MarkdownIt):
    """CommonMark with tables and strikethrough."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": False})
        self.enable(["table", "strikethrough"])
        self.core.ruler.at("inline", _inline)
        self.add_render_rule("text", _text)
        self.add_render_rule("image", _image)
        self.add_render_rule("link_open", _link_open)
        self.add_render_rule("heading_open", _heading)
        self.add_render_rule("heading_close", _heading)
        self.add_render_rule("th_open", _cell)
        self.add_render_rule("td_open", _cell)

    def validateLink(self, url: str) -> bool:  # noqa: N802 -- overrides the library's name
        return is_link(url)

    def rendered(self, text: str, anchor: str = "", numbers: Collection[int] = (), below: int = 0) -> RenderedText:
        """Return the HTML of a text.

        `[n]` becomes a link to `#<anchor>-<n>` where `n` is one of the numbers, and the first link to each has the
        anchor `<anchor>-<n>-c`; headings begin `below` levels deeper and skip none.
        """
        if len(text) > MAX_MARKDOWN_CHARS:
            return RenderedText(f"{SCROLLED}{escape(text)}</pre>\n", frozenset())
        cited = set[int]()
        known = {
            "anchor": anchor,
            "numbers": frozenset(numbers),
            "below": below,
            "cited": cited,
            "headings": list[int](),
        }
        html = self.render(text, known).replace("<pre>", SCROLLED)
        return RenderedText(html, frozenset(cited))


def is_link(url: str) -> bool:
    """Tell whether a page may link to the address: only to web pages and mail addresses."""
    return LINK.match(url) is not None and url.isprintable()


def anchor(url: str, content: str) -> str:
    """Return a link with content that is already HTML; only the content if the address may not be linked."""
    return f'<a href="{escape(url)}"{LINK_ATTRIBUTES}>{content}</a>' if is_link(url) else content


def _inline(state: "StateCore") -> None:
    for token in state.tokens:
        if token.type == "inline" and token.children is not None:
            if len(token.content) <= MAX_PARAGRAPH_CHARS:
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            else:
                token.children.append(Token("text", "", 0, content=token.content))


def _text(_: "RendererHTML", tokens: Sequence[Token], place: int, _options: "OptionsDict", env: "EnvType") -> str:
    content = escape(tokens[place].content)
    numbers = env["numbers"]
    if not numbers or _is_in_link(tokens, place):
        return content
    return CITATION.sub(
        lambda found: _cited(int(found[1]), found[0], env) if int(found[1]) in numbers else found[0], content
    )


def _cited(number: int, shown: str, env: "EnvType") -> str:
    """Return the link to a source; the first to each can be linked to from there."""
    name, cited = f"{env['anchor']}-{number}", env["cited"]
    own = "" if number in cited else f' id="{name}-c"'
    cited.add(number)
    return f'<a class="cite"{own} href="#{name}">{shown}</a>'


def _is_in_link(tokens: Sequence[Token], place: int) -> bool:
    for token in reversed(tokens[:place]):
        if token.type in {"link_open", "link_close"}:
            return token.type == "link_open"
    return False


def _image(_: "RendererHTML", tokens: Sequence[Token], place: int, _options: "OptionsDict", _env: "EnvType") -> str:
    """Show an image as a link, because opening the page must load nothing."""
    token = tokens[place]
    url, name = str(token.attrs.get("src", "")), escape(token.content or "image")
    return f"[{name}]" if _is_in_link(tokens, place) else anchor(url, f"[{name}]")


def _link_open(_: "RendererHTML", tokens: Sequence[Token], place: int, _options: "OptionsDict", _env: "EnvType") -> str:
    return f'<a href="{escape(str(tokens[place].attrs.get("href", "")))}"{LINK_ATTRIBUTES}>'


def _heading(_: "RendererHTML", tokens: Sequence[Token], place: int, _options: "OptionsDict", env: "EnvType") -> str:
    level, above = int(tokens[place].tag[1]), env["headings"]
    if tokens[place].nesting > 0:  # one deeper than the heading above it, however many levels its author skipped
        while above and above[-1] >= level:
            above.pop()
        above.append(level)
    shown = min(DEEPEST_HEADING, len(above) + env["below"])
    return f"<h{shown}>" if tokens[place].nesting > 0 else f"</h{shown}>\n"


def _cell(_: "RendererHTML", tokens: Sequence[Token], place: int, _options: "OptionsDict", _env: "EnvType") -> str:
    """Name the alignment by a class: styles in the page's body are forbidden by its policy."""
    token = tokens[place]
    side = str(token.attrs.get("style", "")).rpartition(":")[2]
    return f'<{token.tag} class="{escape(side)}">' if side else f"<{token.tag}>"
