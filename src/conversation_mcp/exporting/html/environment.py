"""The templates of pages. Whatever is put into them is escaped unless it was rendered by `SafeMarkdown`."""

from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, PrefixLoader, StrictUndefined

SHARED = "conversation_mcp.exporting.html"


@cache  # compiling the templates takes longer than rendering a page
def environment(**packages: str) -> Environment:
    """Return the templates under `shared/`, and those of each package under its name."""
    loaders = {name: PackageLoader(package) for name, package in {"shared": SHARED, **packages}.items()}
    made = Environment(
        loader=PrefixLoader(loaders),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        undefined=StrictUndefined,
    )
    for name in made.list_templates(["html"]):  # now, so that no page waits for a file
        made.get_template(name)
    return made


def content_style() -> str:
    """Return the style sheet of conversations."""
    return files(SHARED).joinpath("content.css").read_text("utf-8")
