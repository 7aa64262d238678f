"""The base of what is read from data files."""

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """A record of facts: nothing in it changes, and a field that nobody knows is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")
