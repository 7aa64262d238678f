"""The catalog of MCP clients, from the data file `clients.toml`."""

import json
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import SecretStr

from conversation_mcp.cli.configuration.toml_text import toml_table
from conversation_mcp.cli.configuration.values import end_of, shown, values_of
from conversation_mcp.settings import LoadedSettings

SERVER_NAME = "conversations"
BRIDGE = "mcp-remote"
"""The program that clients start which know no URLs."""


class Target(Protocol):
    """What a client is told of: a server that it starts, or one at a URL."""

    def without_keys(self) -> "Target":
        """Return a copy that can be shown."""
        ...

    def entry(self, client: "Client") -> dict[str, Any]:
        """Return the server's entry in the client's file."""
        ...

    def how_to_add(self, client: "Client") -> str:
        """Return the client's own command that adds the server; empty if it has none."""
        ...

    def what_next(self, client: "Client") -> str:
        """Return what to do once the entry is in the file."""
        ...

    def public_values(self, client: "Client") -> Iterable[str]:
        """Return what may be shown of the entry, although it may look like a secret."""
        ...


@dataclass(frozen=True)
class Launch:
    """How a client starts this installation: command and environment, with the settings that clients do not pass on."""

    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Variables whose values are secret; only their last characters are shown."""

    def without_keys(self) -> "Launch":
        """Return a copy that can be shown, with only the last characters of the keys."""
        return Launch(self.command, self.variables, {name: end_of(SecretStr(key)) for name, key in self.keys.items()})

    def entry(self, client: "Client") -> dict[str, Any]:
        """Return the server's entry in a client's file."""
        program, *arguments = self.command
        entry: dict[str, Any] = {**client.fields, "command": program}
        if arguments:
            entry["args"] = arguments
        if self.variables or self.keys:
            entry["env"] = {**self.variables, **self.keys}
        return entry

    def how_to_add(self, client: "Client") -> str:
        """Return the client's own command that adds the server; empty if it has none."""
        assignments = [f"{name}={value}" for name, value in self.variables.items()]
        variables = "".join(client.variable.format(assignment=joined(assignment)) for assignment in assignments)
        return client.command.format(name=SERVER_NAME, variables=variables, server=joined(*self.command))

    def what_next(self, client: "Client") -> str:
        """Return how the client takes notice of its file."""
        return client.after

    def public_values(self, client: "Client") -> Iterable[str]:
        """Return the command and the variables that are not secret."""
        del client
        return (*self.command, *self.variables.values())


@dataclass(frozen=True)
class Client:
    """An MCP client, and the format and place of the file that lists its servers."""

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
    remote: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def path(self, environment: Mapping[str, str], home: Path, platform: str = sys.platform) -> Path:
        """Return the path of the client's file, whether or not it exists."""
        shape = self.file.get(platform, self.file["linux"])
        if folder := environment.get(self.folder_variable, ""):  # such as CODEX_HOME
            return Path(folder) / Path(shape).name
        places = {
            "home": home,
            "config": environment.get("XDG_CONFIG_HOME") or home / ".config",
            "roaming": environment.get("APPDATA") or home / "AppData/Roaming",
        }
        return Path(shape.format_map(places))

    def snippet(self, target: Target) -> str:
        """Return the content of the client's file with only this server in it."""
        entry = target.entry(self)
        if self.form == "toml":
            return toml_table(f"{self.key}.{SERVER_NAME}", entry)
        return json.dumps({self.key: {SERVER_NAME: entry}}, indent=2, ensure_ascii=False) + "\n"


def load_clients() -> Mapping[str, Client]:
    """Return the clients by the names that the command line accepts."""
    data = tomllib.loads(files("conversation_mcp.cli.clients").joinpath("clients.toml").read_text("utf-8"))
    return {name: Client(name=name, **facts) for name, facts in data.items()}


def launch_of(
    program: Sequence[str],
    loaded: LoadedSettings,
    options: Mapping[str, object],
    keys: Mapping[str, str] | None = None,
) -> Launch:
    """Return how a client starts the program so that it behaves as it does here.

    Typed options become arguments. Settings from the environment become variables, because clients do not pass on
    their own environment. Secrets are left out, so that they do not lie in one more file, except those in `keys`.
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
    """Return the command that starts this installation, with its absolute path."""
    name = "conversation-mcp.exe" if sys.platform == "win32" else "conversation-mcp"
    script = Path(sys.executable).with_name(name)
    return [str(script)] if script.exists() else [sys.executable, "-m", "conversation_mcp"]


def joined(*words: str) -> str:
    """Return the words as one line for the shell of this system."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
