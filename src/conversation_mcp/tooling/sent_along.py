"""The arguments that send more than the question: files, images, and the conversation that a new one continues."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from conversation_mcp.records.options import text_list


def _paths(value: object) -> object:
    return tuple(text_list(value, 'paths such as ["/path/to/app.py:10-80"]'))


Paths = Annotated[tuple[str, ...], BeforeValidator(_paths)]


class AttachedArguments(BaseModel):
    """Files and images that go with a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Paths = Field(
        default=(),
        description="Absolute paths: files, folders, globs, path:10-80, git:staged; in allowed folders; sent once.",
    )
    images: Paths = ()
    """Absolute paths of PNG, JPEG, WebP or GIF files, for models that see."""


class Continuing(BaseModel):
    """The conversation that a new one continues."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    continue_from: str | None = Field(
        default=None, alias="continueFrom", description="Id of the conversation that it continues."
    )
