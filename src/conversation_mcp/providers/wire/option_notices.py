"""What a question asked for and its provider has no field for. It is said, never dropped."""

from conversation_mcp.records.options import Options


def option_notices(title: str, options: Options, honoured: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return one sentence for each option that was set and is not among the honoured ones."""
    asked = [name for name, value in options.model_dump(exclude_none=True).items() if value not in {False, "web"}]
    return tuple(f"{name} was not applied; {title} has no such field." for name in asked if name not in honoured)
