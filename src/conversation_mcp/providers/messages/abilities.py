"""What the list of models says about one of them."""

from dataclasses import dataclass

from conversation_mcp.providers.wire.json_values import JsonObject, count_at, name_at, object_at

LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""The levels of effort, from the least; a model has some of them."""


@dataclass(frozen=True)
class ModelAbilities:
    """The facts that decide which fields a request has; None where the list says nothing."""

    output_tokens: int | None = None
    efforts: tuple[str, ...] = ()
    """The levels of effort that it accepts; without any, the field is refused."""
    adapts_thinking: bool = False
    """Whether it can decide itself how much to think."""
    searches: bool | None = None
    is_deprecated: bool = False
    ends: str = ""
    """When it will be gone, as the provider writes it."""

    def effort_like(self, wanted: str) -> str | None:
        """Return the level that is nearest to the wanted one, the lower of two; None if there is none."""
        place = LEVELS.index(wanted)
        return min(
            self.efforts, key=lambda level: (abs(LEVELS.index(level) - place), LEVELS.index(level)), default=None
        )


UNKNOWN = ModelAbilities()


def abilities_of(model: JsonObject) -> ModelAbilities:
    """Read an entry of the list of models."""
    capabilities = object_at(model, "capabilities")
    efforts, thinking = object_at(capabilities, "effort"), object_at(object_at(capabilities, "thinking"), "types")
    output_tokens = count_at(model, "max_tokens")
    return ModelAbilities(
        output_tokens=output_tokens if output_tokens and output_tokens > 0 else None,
        efforts=tuple(level for level in LEVELS if _is_supported(efforts, level)),
        adapts_thinking=_is_supported(thinking, "adaptive") or False,
        searches=_is_supported(object_at(capabilities, "server_tools"), "web_search"),
        is_deprecated=model.get("lifecycle") == "deprecated",
        ends=name_at(model, "retires_at")[: len("2026-01-31")],
    )


def _is_supported(parent: JsonObject, name: str) -> bool | None:
    value = object_at(parent, name).get("supported")
    return value if isinstance(value, bool) else None
