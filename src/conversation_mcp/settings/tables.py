"""The settings of one provider and of one model, which are tables in the user's file."""

import re
from collections.abc import Container, Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from conversation_mcp.sources import PROVIDER_FIELDS


def separated(separator: str) -> BeforeValidator:
    """Make the validator of a list that may be given as one text."""

    def split(value: object) -> object:
        if isinstance(value, str):
            return [part.strip() for part in value.split(separator) if part.strip()]
        return value

    return BeforeValidator(split)


Kind = Literal["direct", "unified", "local", "custom"]
JwtAlgorithm = Literal["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
"""Signatures that need a private key: with a shared secret, whoever can check tokens could make them."""
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
    api_version: str | None = None
    """The version that is sent as `api-version` in the address of each call; not sent if unset."""
    allowed_models: Names = ()
    """The only models that may be asked, by any of their names; empty allows all."""

    @property
    def extra(self) -> Mapping[str, object]:
        """The fields of the provider's definition that the user's file sets."""
        return self.model_extra or {}


FLAT = re.compile(rf"(?P<provider>[a-z][a-z0-9_-]*)_(?P<field>{'|'.join(PROVIDER_FIELDS)})")


def folded(values: object, known: Container[str]) -> object:
    """Move `openai_api_key` to the `api_key` of the provider `openai`, unless it is a setting that is known."""
    if not isinstance(values, dict):
        return values
    given = cast("dict[str, Any]", values)
    flat = {name: FLAT.fullmatch(name) for name in given if name not in known}
    if not any(flat.values()):
        return given
    others = {name: value for name, value in given.items() if not flat.get(name)}
    tables = {name: dict(table) for name, table in dict(given.get("providers") or {}).items()}
    for name, found in flat.items():
        if found:
            tables.setdefault(found["provider"], {})[found["field"]] = given[name]
    return {**others, "providers": tables}


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
