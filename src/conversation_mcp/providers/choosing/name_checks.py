"""The check of names of models in the settings: an impossible one stops the start, with similar names as a hint."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.choosing.names import is_family, known_names, means, near_names, split_name
from conversation_mcp.providers.choosing.ranking import AUTO, category_of
from conversation_mcp.providers.configuration import definitions_in
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.settings import Settings
from conversation_mcp.sources import allowed_models_variable, variable_of
from conversation_mcp.text import presentable

VERY_NEAR = 0.8
"""From this similarity on, an unknown name in a list counts as a misspelling of a known one."""


def has_names(settings: Settings) -> bool:
    """Tell whether the settings name any providers or models; if not, a start saves the reading of the catalogue."""
    lists = (settings.preferred_models, settings.disabled_models, settings.fallback_models)
    return bool(
        settings.providers or settings.models or any(lists) or any(name != AUTO for _, name in _single(settings))
    )


def check_names(settings: Settings, catalogue: Catalogue) -> None:
    """Check every name in the settings; the catalogue must be loaded.

    Raises:
        InvalidInputError: a name is impossible; the message says where it is.
    """
    definitions = definitions_in(settings)
    known = _known(definitions, catalogue)
    for name in settings.models:
        if split_name(name, definitions) is None:
            raise InvalidInputError(
                f'[models."{name}"] in the configuration file must be named provider:model.{near_names(name, known)}'
            )
    own_defaults = {given.default_model for given in settings.providers.values()}
    for variable, name in _single(settings):
        if name not in own_defaults:
            _check_single(variable, name, definitions, known)
    for variable, names in _lists(settings):
        _check_list(variable, names, definitions, known)
    for provider, variable, names in _allowed(settings):
        own = _known([provider], catalogue)
        _check_list(variable, names, definitions, own, provider)


def idle_lists(settings: Settings, catalogue: Catalogue) -> Iterator[str]:
    """Yield a warning for each list of models that matches none of the known ones; the catalogue must be loaded.

    A name with its provider in front is accepted as it is, because the models of local and custom servers are unknown.
    """
    definitions = definitions_in(settings)

    def means_any(entry: str, provider: str) -> bool:
        models = catalogue.models(provider)
        definition = definitions.get(provider)
        own = {name.casefold() for name in definition.models} if definition else set[str]()
        named = split_name(entry, definitions)
        is_preset = definition is not None and definition.is_preset(entry.casefold())
        is_open = is_preset if named is None and (models or own) else named is None or named[0] == provider
        return is_open or any(means(entry, provider, names) for names in (own, *(model.names for model in models)))

    for provider, variable, names in _allowed(settings):
        if names and not any(means_any(name, provider) for name in names):
            yield f"{variable} ({', '.join(names)}) matches no known model of {provider}, and no other is asked"
    known = [name for name in definitions if catalogue.models(name)]
    for variable, names in _lists(settings):
        unclear = [name for name in names if not any(means_any(name, provider) for provider in known)]
        if names and unclear == list(names) and not any(split_name(name, definitions) for name in names):
            what = f"{variable} ({', '.join(names)}) matches no known model"
            yield f"{what}; write provider:model for one of a server of yours"


def _lists(settings: Settings) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return (
        ("PREFERRED_MODELS", settings.preferred_models),
        ("DISABLED_MODELS", settings.disabled_models),
        ("CONVERSATION_MCP_FALLBACK_MODELS", settings.fallback_models),
    )


def _allowed(settings: Settings) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield provider, variable and names of each list of models that may be asked."""
    for provider, given in settings.providers.items():
        yield provider, allowed_models_variable(provider), given.allowed_models


def _single(settings: Settings) -> list[tuple[str, str]]:
    """Return the settings that hold one model each, with their variables."""
    fields = {"default_model": settings.default_model, "documents_model": settings.documents_model}
    return [(variable_of(field), name) for field, name in fields.items() if name is not None]


def _check_single(variable: str, name: str, definitions: Iterable[str], known: Mapping[str, str]) -> None:
    is_chosen = category_of(name, "chat") is not None or is_family(name)
    if not is_chosen and split_name(name, definitions) is None and name.casefold() not in known:
        raise InvalidInputError(
            f"{variable}: {presentable(name)!r} is not a known model.{near_names(name, known)} "
            "Use auto, auto:fast, auto:balanced, auto:deep, a known name, or provider:model."
        )


def _check_list(
    variable: str, names: Iterable[str], definitions: Iterable[str], known: Mapping[str, str], provider: str = ""
) -> None:
    for name in names:
        if split_name(name, definitions) or name.casefold() in known or is_family(name):
            continue
        if get_close_matches(name.casefold(), known, 1, VERY_NEAR):
            sure = f"{provider or 'provider'}:{name}"
            raise InvalidInputError(
                f"{variable}: {presentable(name)!r} is not a known model.{near_names(name, known)} "
                f"If it is right, write {sure}."
            )


def _known(providers: Iterable[str], catalogue: Catalogue) -> dict[str, str]:
    return known_names((provider, model) for provider in providers for model in catalogue.models(provider))
