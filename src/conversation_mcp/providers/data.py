"""The base class of records in data files."""

from fnmatch import fnmatchcase

from pydantic import BaseModel, ConfigDict


class Data(BaseModel):
    """A frozen record of facts; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ForModels(Data):
    """Facts about some models of a provider; without patterns, about every model."""

    models: tuple[str, ...] = ()
    """Patterns, in lower case, of the names of models, without a maker in front."""

    def is_for(self, model: str) -> bool:
        """Tell whether the facts are about the model."""
        name = model.casefold().rpartition("/")[2]
        return not self.models or any(fnmatchcase(name, pattern) for pattern in self.models)
