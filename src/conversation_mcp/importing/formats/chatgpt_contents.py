"""The texts and pictures in the contents of ChatGPT's messages."""

from collections.abc import Iterator, Sequence
from typing import Any

from conversation_mcp.importing.messages import Data, list_of, name_of, object_of, text_of


def content_of(said: Data) -> Data:
    """Return the content of a message; one that is only a text or a list is that of a message of texts."""
    content = said.get("content")
    return {"parts": content} if isinstance(content, str | list) else object_of(content)


def parts_of(content: Data) -> Sequence[Any]:
    """Return the parts of a content; one that is only a text is a single part."""
    parts = content.get("parts")
    return (parts,) if isinstance(parts, str) else list_of(parts)


def texts_in(content: Data) -> Iterator[str]:
    """Yield the texts of a content, with code in fences."""
    if content.get("content_type") == "code":
        language = name_of(content.get("language")) or ""
        code = text_of(content.get("text"))
        yield f"```{'' if language == 'unknown' else language}\n{code}\n```" if code.strip() else ""
        return
    for part in parts_of(content):
        yield text_of(part) or text_of(object_of(part).get("text"))
    if not parts_of(content):
        yield text_of(content.get("text"))


def thoughts_in(content: Data) -> Iterator[str]:
    """Yield the reasoning of a content."""
    for thought in map(object_of, list_of(content.get("thoughts"))):
        yield text_of(thought.get("content")) or text_of(thought.get("summary"))


def pointers_in(content: Data) -> Iterator[str]:
    """Yield the names of pictures and recordings, which a part is or contains."""
    for part in map(object_of, parts_of(content)):
        for each in (part, *map(object_of, part.values())):
            if name := name_of(each.get("asset_pointer")):
                yield name


def unknown_in(content: Data) -> Iterator[Data]:
    """Yield the parts that are neither text nor a picture nor a recording, and thoughts without words."""
    for part in map(object_of, parts_of(content)):
        alone = {"parts": [part]}
        if not any(texts_in(alone)) and not any(pointers_in(alone)):
            yield part
    for thought in map(object_of, list_of(content.get("thoughts"))):
        if not any(thoughts_in({"thoughts": [thought]})):
            yield thought
