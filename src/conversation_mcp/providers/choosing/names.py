"""Names of models as people type them: their parts, names of families, and names similar to an unknown one."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from importlib.resources import files

from conversation_mcp.providers.model_facts import ModelFacts

NEAR = 0.6
SHOWN_NEAR = 3
FAMILIES = {
    name: re.compile(pattern)
    for name, pattern in tomllib.loads(
        files("conversation_mcp.providers.choosing").joinpath("families.toml").read_text("utf-8")
    ).items()
}
"""Read on import, like code: once, and never while an event loop waits for the file."""


def split_name(name: str, providers: Iterable[str]) -> tuple[str, str] | None:
    """Return provider and model of `provider:model`, else None: a colon can be part of a model's own name."""
    head, _, rest = name.partition(":")
    return (head.casefold(), rest) if rest and head.casefold() in providers else None


def known_names(models: Iterable[tuple[str, ModelFacts]]) -> dict[str, str]:
    """Return the shown name of each model by each spelling of its names; for equal spellings the first model counts.

    Each model is given with its provider, or with an empty string if its id alone is its name.
    """
    known: dict[str, str] = {}
    for provider, model in models:
        shown = f"{provider}:{model.id}" if provider else model.id
        for spelling in model.names:
            known.setdefault(spelling, shown)
    return known


def near_names(wanted: str, known: Mapping[str, str], last: Collection[str] = ()) -> str:
    """Return a sentence with the names most similar to the wanted one, those of `last` at the end; empty if none is."""
    from difflib import get_close_matches

    bare = wanted.rpartition(":")[2] or wanted
    count = len(known) if last else SHOWN_NEAR
    matches = get_close_matches(bare.casefold(), known, count, NEAR) if known else ()
    near = sorted(dict.fromkeys(known[name] for name in matches), key=lambda name: name in last)
    return f" Similar names: {', '.join(near[:SHOWN_NEAR])}." if near else ""


def means(entry: str, provider: str, names: Collection[str]) -> bool:
    """Tell whether an entry of a list means the provider's model with these lower-case names.

    An entry with another provider in front does not; the name of a family means all of its models.
    """
    bare = entry.casefold().removeprefix(f"{provider}:")
    return bare in names or belongs_to(bare, names)


def is_family(name: str) -> bool:
    """Tell whether this is the name of a family of models, such as flash or opus."""
    return name.casefold() in FAMILIES


def belongs_to(family: str, names: Iterable[str]) -> bool:
    """Tell whether the model with these lower-case names belongs to the family."""
    pattern = FAMILIES.get(family.casefold())
    return pattern is not None and any(pattern.fullmatch(name) for name in names)
