"""The base of everything that is written as JSON."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel


class Record(BaseModel):
    """A frozen record with camelCase JSON names that keeps the fields it does not know."""

    # Built when it is first used: a server starts without any conversation.
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,
    )
    # Numbers in unknown fields are finite, too: only what has a type is checked.
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)  # pyright: ignore[reportIncompatibleVariableOverride]

    @classmethod
    def of(cls, **facts: Any) -> Self:  # noqa: ANN401 -- checked by the model
        """Make the record from the known facts; None means unknown and is left out of the file."""
        return cls(**{name: value for name, value in facts.items() if value is not None})

    def data(self) -> dict[str, Any]:
        """Return the record as JSON data, without the fields that were never set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)
