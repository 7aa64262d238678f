"""The check of the settings, the keys, the providers and the variables of the network."""

import os
import platform
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from conversation_mcp import __version__
from conversation_mcp.cli.configuration.values import Value, masked, values_of
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.configuration import configured_in, definitions_in, suggested_keys
from conversation_mcp.providers.model_facts import Catalogue
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import LoadedSettings, Settings
from conversation_mcp.sources import config_path
from conversation_mcp.tools.catalog import tools_of

PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
TEMPORARY = "archive-v0"
"""The part of uv's cache with the environments of uvx, which uv may remove at any time."""


def check_settings(loaded: LoadedSettings, environment: Mapping[str, str], *, online: bool) -> Iterable[Finding]:
    """Check everything that can be checked without opening a file of conversations or the network."""
    yield Finding(
        "ok", f"version {__version__}, SDK {version('mcp')}, Python {platform.python_version()} at {sys.executable}"
    )
    if TEMPORARY in Path(sys.prefix).parts:
        yield Finding("warn", "this installation is a temporary one; clients need one that stays: uv tool install")
    config = config_path()
    yield Finding("ok", f"configuration file {config}" + ("" if config.exists() else " (there is none)"))
    values = values_of(loaded)
    wrong = _wrong_tools(loaded.settings)
    for value in values:
        if value.name == "tools" and wrong:
            yield Finding("fail", f"{value.label} = {value.shown} (from {value.origin}): {wrong}")
        elif value.origin != "default" and not value.is_secret and value.name != "logs_dir":
            yield Finding("ok", f"{value.label} = {value.shown} (from {value.origin})")
    if loaded.settings.max_cost_usd_per_day is not None:
        date = Catalogue(loaded.settings.models).load().date
        yield Finding("ok", f"the daily limit counts reported costs, or else an estimate by the prices of {date} (~)")
    yield from _providers(
        loaded.settings, [value for value in values if value.is_secret and value.shown], online=online
    )
    yield from _network(environment)


def _wrong_tools(settings: Settings) -> str:
    try:
        tools_of(settings.tools)
    except InvalidInputError as error:
        return error.message
    return ""


def _providers(settings: Settings, keys: list[Value], *, online: bool) -> Iterable[Finding]:
    for key in keys:
        place = "the environment" if key.is_from_environment else key.origin
        found = f"{key.label} from {place}, ends in {key.shown}"
        yield Finding("ok", found) if online else Finding("warn", f"{found}; not tried (use --online)")
    try:
        definitions = definitions_in(settings)
        configured = [name for name, given in configured_in(settings).items() if given.is_certain]
    except InvalidInputError as error:
        yield Finding("fail", error.message)
        return
    key = " or ".join(suggested_keys("search", definitions.values()))
    if any("search" not in definitions[name].suggested_for for name in configured):
        yield Finding("ok", f"providers: {', '.join(configured)}; local servers are looked for when a question comes")
    elif settings.documents and not configured:
        yield Finding("ok", f"no {key}: questions go to your documents")
    elif not configured:
        yield Finding("warn", f"no provider: set {key}, or name documents with --documents")


def _network(environment: Mapping[str, str]) -> Iterable[Finding]:
    for name in PROXY_VARIABLES:
        for spelling in (name, name.lower()):
            if value := environment.get(spelling):
                yield Finding("ok", f"{spelling} = {masked(value)}")  # a proxy's address may have a password
    for name in CERTIFICATE_VARIABLES:
        if value := environment.get(name):
            there = os.access(value, os.R_OK)
            yield Finding("ok" if there else "fail", f"{name} = {value}" + ("" if there else ", which cannot be read"))
