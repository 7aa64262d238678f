"""What is set: settings, keys, documents, and how the network is reached."""

import os
import platform
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from conversation_mcp import __version__
from conversation_mcp.cli.findings import Finding
from conversation_mcp.cli.setting_values import end_of, shown
from conversation_mcp.settings import LoadedSettings
from conversation_mcp.sources import config_path, variable_of

PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
CERTIFICATE_VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
CREDENTIALS = re.compile(r"//[^/@]*@")
TEMPORARY = "archive-v0"
"""The part of its cache in which uvx keeps environments for as long as it likes."""


def check_settings(loaded: LoadedSettings, environment: Mapping[str, str], *, online: bool) -> Iterable[Finding]:
    """Look at everything that can be looked at without touching anything."""
    yield Finding(
        "ok", f"version {__version__}, SDK {version('mcp')}, Python {platform.python_version()} at {sys.executable}"
    )
    if TEMPORARY in Path(sys.prefix).parts:
        yield Finding("warn", "this installation is a temporary one; clients need one that stays: uv tool install")
    config = config_path()
    yield Finding("ok", f"configuration file {config}" + ("" if config.exists() else " (there is none)"))
    for name, origin in loaded.origins.items():
        if name not in ("perplexity_api_key", "logs_dir"):
            yield Finding("ok", f"{variable_of(name)} = {shown(getattr(loaded.settings, name))} (from {origin})")
    yield from _key(loaded, online=online)
    yield from _network(environment)


def _key(loaded: LoadedSettings, *, online: bool) -> Iterable[Finding]:
    if key := loaded.settings.perplexity_api_key:
        origin = loaded.origins["perplexity_api_key"]
        place = "the environment" if origin == variable_of("perplexity_api_key") else origin
        found = f"PERPLEXITY_API_KEY from {place}, ends in {end_of(key)}"
        yield Finding("ok", found) if online else Finding("warn", f"{found}; not tried (use --online)")
    elif loaded.settings.documents:
        yield Finding("ok", "no PERPLEXITY_API_KEY: questions go to your documents")
    else:
        yield Finding("warn", "no provider: set PERPLEXITY_API_KEY, or name documents with --documents")


def _network(environment: Mapping[str, str]) -> Iterable[Finding]:
    for name in PROXY_VARIABLES:
        for spelling in (name, name.lower()):
            if value := environment.get(spelling):
                yield Finding("ok", f"{spelling} = {CREDENTIALS.sub('//…@', value)}")
    for name in CERTIFICATE_VARIABLES:
        if value := environment.get(name):
            there = os.access(value, os.R_OK)
            yield Finding("ok" if there else "fail", f"{name} = {value}" + ("" if there else ", which cannot be read"))
