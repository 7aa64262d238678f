"""The MCP clients that can be set up from here, as the data file beside this module describes them."""

import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from pydantic import SecretStr

from conversation_mcp.cli.configuration.toml_text import toml_table
from conversation_mcp.cli.configuration.values import end_of, shown, values_of
from conversation_mcp.settings import LoadedSettings

SERVER_NAME = "conversations"


@dataclass(frozen=True)
class Launch:
    """How a client starts this installation with the settings that it would not have by itself."""

    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables that nobody may read over a shoulder."""

    def without_keys(self) -> "Launch":
        """Return the same as it may be shown, with the ends of the keys."""
        return Launch(self.command, self.variables, {name: end_of(SecretStr(key)) for name, key in self.keys.items()})

    def entry(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the server's entry in a client's file."""
        program, *arguments = self.command
        entry: dict[str, Any] = {**fields, "command": program}
        if arguments:
            entry["args"] = arguments
        if self.variables or self.keys:
            entry["env"] = {**self.variables, **self.keys}
        return entry


@dataclass(frozen=True)
class Client:
    """An MCP client and where it wants to be told of servers."""

    name: str
    title: str
    form: Literal["json", "toml"]
    key: str
    after: str
    file: Mapping[str, str]
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    folder_variable: str = ""
    command: str = ""
    variable: str = ""

    def path(self, environment: Mapping[str, str], home: Path, platform: str = sys.platform) -> Path:
        """Return the path of the client's file, whether or not it exists."""
        shape = self.file.get(platform, self.file["linux"])
        if folder := environment.get(self.folder_variable, ""):
            return Path(folder) / Path(shape).name
        places = {
            "home": home,
            "config": environment.get("XDG_CONFIG_HOME") or home / ".config",
            "roaming": environment.get("APPDATA") or home / "AppData/Roaming",
        }
        return Path(shape.format_map(places))

    def how_to_add(self, launch: Launch) -> str:
        """Return the command of the client's own that adds the server; empty when it has none."""
        assignments = [f"{name}={value}" for name, value in launch.variables.items()]
        variables = "".join(self.variable.format(assignment=_joined(assignment)) for assignment in assignments)
        return self.command.format(name=SERVER_NAME, variables=variables, server=_joined(*launch.command))

    def snippet(self, launch: Launch) -> str:
        """Return what a person would put into the file, had it nothing else in it."""
        entry = launch.entry(self.fields)
        if self.form == "toml":
            return toml_table(f"{self.key}.{SERVER_NAME}", entry)
        return json.dumps({self.key: {SERVER_NAME: entry}}, indent=2, ensure_ascii=False) + "\n"


def load_clients() -> Mapping[str, Client]:
    """Return the clients by the names that users type."""
    data = tomllib.loads(files("conversation_mcp.cli.clients").joinpath("clients.toml").read_text("utf-8"))
    return {name: Client(name=name, **facts) for name, facts in data.items()}


def launch_of(
    program: Sequence[str],
    loaded: LoadedSettings,
    options: Mapping[str, object],
    keys: Mapping[str, str] | None = None,
) -> Launch:
    """Return how a client starts the program so that it behaves as it does here.

    Options that were typed become arguments. What the environment says is passed on, because clients do not do that;
    but for keys and passwords, which would stand in one more file. Those that shall stand there are given as `keys`.
    """
    settings = loaded.settings
    arguments: list[str] = []
    for name, given in options.items():
        values = settings.documents if name == "documents" else (shown(getattr(settings, name)),)
        arguments += [part for value in values if given for part in ("--" + name.replace("_", "-"), str(value))]
    variables = {
        value.origin: value.shown for value in values_of(loaded) if value.is_from_environment and not value.is_private
    }
    return Launch((*program, *arguments), variables, keys or {})


def installation() -> list[str]:
    """Return the command, by its absolute path, that starts this installation."""
    name = "conversation-mcp.exe" if sys.platform == "win32" else "conversation-mcp"
    script = Path(sys.executable).with_name(name)
    return [str(script)] if script.exists() else [sys.executable, "-m", "conversation_mcp"]


def _joined(*words: str) -> str:
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
