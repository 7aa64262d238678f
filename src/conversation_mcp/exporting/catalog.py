"""The export formats, by name. A new format is a module and a line here; the contract suite runs on all listed."""

from pkgutil import resolve_name
from typing import TYPE_CHECKING, Literal, cast, get_args

if TYPE_CHECKING:
    from conversation_mcp.exporting.base import ExportFormat

FormatName = Literal["markdown", "html", "json", "jsonl"]
EXPORT_FORMATS: dict[FormatName, str] = {
    "markdown": "conversation_mcp.exporting.markdown:MARKDOWN",
    "html": "conversation_mcp.exporting.html.page:HTML",
    "json": "conversation_mcp.exporting.json_file:JSON",
    "jsonl": "conversation_mcp.exporting.jsonl:JSONL",
}
assert get_args(FormatName) == tuple(EXPORT_FORMATS)  # noqa: S101 -- the names of the schema and of the catalog are one list


def export_format(name: FormatName) -> "ExportFormat":
    """Return the format of that name, importing its module."""
    return cast("ExportFormat", resolve_name(EXPORT_FORMATS[name]))
