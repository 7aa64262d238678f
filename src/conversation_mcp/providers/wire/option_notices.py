"""Notices about options for which the provider has no field. Such options are never dropped silently."""

from conversation_mcp.records.options import Options


def option_notices(title: str, options: Options, honoured: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """Return a notice for each option that was set and not honoured."""
    asked = [name for name, value in options.model_dump(exclude_none=True).items() if value not in {False, "web"}]
    return tuple(f"{name} was not applied; {title} has no such field." for name in asked if name not in honoured)
