"""The base class of records in data files."""

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """A frozen record of facts; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
