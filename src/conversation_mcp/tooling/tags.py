"""The tags that a tool is given."""

from typing import Annotated

from pydantic import BeforeValidator

from conversation_mcp.records.options import text_list


def _tags(value: object) -> object:
    return tuple(text_list(value, 'words such as ["rust", "decision"]', ","))


Tags = Annotated[tuple[str, ...], BeforeValidator(_tags)]
