"""Loading: from options, environment, TOML file and defaults, validated once, with the origin of each value."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.errors.validation import requirement
from conversation_mcp.settings.fields import Settings
from conversation_mcp.sources import (
    PREFIX,
    gather,
    provider_settings,
    provider_tables,
    read_toml,
    unread_lists,
    variable_of,
    with_table_values,
)
from conversation_mcp.text import nearest, presentable

PLACEHOLDER = re.compile(
    r"(pplx-)?(your\W.*|your_.*|change.?me.*|placeholder.*|example.*|todo.*|api.?key.*|x{3,}|\.{3,}|<.*>|\$\{?\w*\}?)",
    re.IGNORECASE,
)
TABLES = ("providers", "models")
"""Settings that are tables and cannot come from a variable."""


@dataclass(frozen=True)
class LoadedSettings:
    """The settings, the origin of each, and warnings about their sources."""

    settings: Settings
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


def load_settings(
    options: Mapping[str, object], environment: Mapping[str, str], config: Path, working_folder: Path
) -> LoadedSettings:
    """Merge command-line options, environment, TOML file and defaults.

    Raises:
        InvalidInputError: a value or name is not valid; the message names its variable, key or option.
    """
    filed = read_toml(config)
    of_providers = {setting.name: setting for setting in provider_settings(provider_tables(filed))}
    for name in filed:
        if name not in Settings.model_fields and name not in of_providers:
            near = nearest(name, (*Settings.model_fields, *of_providers))
            hint = f" Did you mean {near!r}?" if near else ""
            raise InvalidInputError(f"{config} has no setting {name!r}.{hint}")
    variables = {name: (variable_of(name),) for name in Settings.model_fields if name not in TABLES}
    variables |= {"models": (), **{name: setting.variables for name, setting in of_providers.items()}}
    gathered = gather(variables, options, environment, config, working_folder)
    values, origins = gathered.values, gathered.origins
    tables = with_table_values(provider_tables(filed), of_providers.values(), values, origins, config)
    unread = (*unread_lists(environment, of_providers.values()), *_foreign_variables(environment))
    warnings = [*_unknown_variables(environment), *unread]
    for name, setting in of_providers.items():
        # A key left over from an example would be refused with every call; without it, another provider may answer.
        if setting.field == "api_key" and PLACEHOLDER.fullmatch(str(values.get(name, ""))):
            warnings.append(f"{origins[name]} holds a placeholder, not a key; it is ignored")
            del values[name], origins[name]
    try:
        settings = Settings.model_validate({**values, "providers": tables or filed.get("providers", {})})
    except ValidationError as error:
        raise InvalidInputError(_sentence(error, origins, config)) from None
    paths = {
        "logs_dir": working_folder / settings.logs_dir.expanduser(),
        "documents": tuple(working_folder / path.expanduser() for path in settings.documents),
        "roots": tuple(working_folder / path.expanduser() for path in settings.roots),
        "allow_secrets": tuple(
            # Stands for a pipe, and is no file of that name.
            path if str(path) == "-" else working_folder / path.expanduser()
            for path in settings.allow_secrets
        ),
        "mirror": settings.mirror and working_folder / settings.mirror.expanduser(),
        "prompts_dir": working_folder / settings.prompts_dir.expanduser(),
        "workflows_dir": working_folder / settings.workflows_dir.expanduser(),
        "encryption_key_file": settings.encryption_key_file
        and working_folder / settings.encryption_key_file.expanduser(),
        "tokens_file": settings.tokens_file and working_folder / settings.tokens_file.expanduser(),
    }
    return LoadedSettings(settings.model_copy(update=paths), origins, tuple(warnings))


def _unknown_variables(environment: Mapping[str, str]) -> Iterator[str]:
    known = {variable_of(name) for name in Settings.model_fields if name not in TABLES}
    for name in sorted(environment):
        if name.startswith(PREFIX) and name not in known:
            near = nearest(name, known)
            yield f"{name} is not a setting" + (f"; did you mean {near}?" if near else "")


def _foreign_variables(environment: Mapping[str, str]) -> Iterator[str]:
    """Warn of variables that other servers read; one that other programs use too counts only beside others."""
    known = tomllib.loads(files("conversation_mcp.settings").joinpath("elsewhere.toml").read_text("utf-8"))
    sure, shared = ([name for name in known[kind] if environment.get(name)] for kind in ("sure", "shared"))
    for name in (*sure, *(shared if sure else ())):
        yield f"{name} is not read: {known['sure'].get(name) or known['shared'][name]}"


def _sentence(error: ValidationError, origins: Mapping[str, str], config: Path) -> str:
    problem = error.errors(include_url=False)[0]
    place = [str(part) for part in problem["loc"]]
    name = "_".join(place[1:3]) if place[0] == "providers" else place[0]
    origin = origins.get(name, str(config) if place[0] in TABLES else name)
    where = f"{config}: {'.'.join(place)}" if origin == str(config) else origin
    # A key is never shown, not even one that was put where a table belongs.
    is_misplaced = place[0] in TABLES and not place[2:] and isinstance(problem["input"], str)
    is_secret = is_misplaced or {"api_key", "encryption_key"} & {*place}
    shown = "" if is_secret else f"; got {presentable(repr(problem['input']))}"
    return f"{where}: {requirement(problem)}{shown}."
