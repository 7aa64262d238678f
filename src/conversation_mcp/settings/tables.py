"""The settings of one provider and of one model, which are tables in the user's file."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr


def separated(separator: str) -> BeforeValidator:
    """Make the validator of a list that may be given as one text."""

    def split(value: object) -> object:
        if isinstance(value, str):
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value

    return BeforeValidator(split)


Names = Annotated[tuple[str, ...], separated(",")]


class ProviderSettings(BaseModel):
    """The settings of one provider. Other keys of its table in the user's file change fields of its definition."""

    model_config = ConfigDict(frozen=True, extra="allow")

    api_key: SecretStr | None = None
    """The API key; never logged or stored, and shown only by its last characters."""
    base_url: str | None = None
    """An address in place of the usual one."""
    default_model: str | None = None
    """The model to ask if none is named."""
    allowed_models: Names = ()
    """The only models that may be asked, by any of their names; empty allows all."""

    @property
    def extra(self) -> Mapping[str, object]:
        """The fields of the provider's definition that the user's file sets."""
        return self.model_extra or {}


NOTHING_SET = ProviderSettings()


class OwnModel(BaseModel):
    """The facts about a model that a user corrects or adds. Prices are US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    aliases: Names = ()
    context: int | None = Field(default=None, ge=1)
    input: int | None = Field(default=None, ge=1)
    output: int | None = Field(default=None, ge=1)
    images: bool | None = None
    reasoning: bool | None = None
    price_in: float | None = Field(default=None, ge=0)
    price_out: float | None = Field(default=None, ge=0)
    price_cached: float | None = Field(default=None, ge=0)
    price_written: float | None = Field(default=None, ge=0)
    price_search: float | None = Field(default=None, ge=0)
    ability: int | None = Field(default=None, ge=0, le=29)
