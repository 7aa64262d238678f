"""The files that carry the package elsewhere keep to their formats and say what the package says."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.manifests import (
    BUNDLE,
    PLUGIN,
    PLUGIN_SERVERS,
    ROOT,
    SERVER,
    instructions_of,
    manifest,
)
from tests.reference.versions import PLACES, with_version

from conversation_mcp import __version__
from conversation_mcp.cli.configuration.file import WORDS
from conversation_mcp.settings import Settings, load_settings
from conversation_mcp.sources import provider_settings, variable_of
from conversation_mcp.tools.catalog import tools_of

DOCKERFILE = ROOT / "Dockerfile"
VARIABLES = {
    **{variable_of(name): str(field.description) for name, field in Settings.model_fields.items()},
    **{variable: WORDS.get(one.name, "") for one in provider_settings() for variable in one.variables},
}
LINTED = {"mcp-registry": [SERVER], "single-plugin": [PLUGIN, PLUGIN_SERVERS]}
"""The files that the linter of packages judges, by the kind that it calls them; server.json by its released schema."""
BREACHES: list[tuple[str, str, dict[str, Any]]] = [
    ("mcp-registry", SERVER, {"name": "conversation-mcp"}),
    ("mcp-registry", SERVER, {"description": "x" * 101}),
    ("mcp-registry", SERVER, {"version": "^0.1.0"}),
    ("mcp-registry", SERVER, {"packages": [{"registryType": "pypi", "identifier": "conversation-mcp"}]}),
    ("single-plugin", PLUGIN, {"name": "Conversation MCP"}),
    ("single-plugin", PLUGIN, {"author": "nobody"}),
    ("single-plugin", PLUGIN_SERVERS, {"mcpServers": {"conversations": {"args": ["conversation-mcp"]}}}),
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", LINTED)
def test_the_linter_of_packages_has_no_complaint(kind: str, tmp_path: Path) -> None:
    linted = lint(kind, tmp_path, {name: manifest(name) for name in LINTED[kind]})
    assert linted.returncode == 0, linted.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "change"), BREACHES)
def test_the_linter_of_packages_notices_a_breach(
    kind: str, name: str, change: Mapping[str, Any], tmp_path: Path
) -> None:
    files = {each: manifest(each) for each in LINTED[kind]}
    linted = lint(kind, tmp_path, {**files, name: {**files[name], **change}})
    assert linted.returncode == 1, linted.stdout


@pytest.mark.slow
def test_the_tool_of_the_format_takes_the_manifest_of_the_bundle(tmp_path: Path) -> None:
    tool = next(ROOT.glob(".venv/*/node_modules/.bin/mcpb"), None)
    if tool is None:
        pytest.skip("the validator of mcpb manifests is not installed")
    assert run([str(tool), "validate", str(ROOT / BUNDLE)]).returncode == 0
    broken = tmp_path / "manifest.json"
    broken.write_text(json.dumps({**manifest(BUNDLE), "server": {"type": "uv"}}), encoding="utf-8")
    assert run([str(tool), "validate", str(broken)]).returncode != 0


def test_every_file_has_the_version_of_the_package() -> None:
    (package,) = manifest(SERVER)["packages"]
    versions = [manifest(name)["version"] for name in (SERVER, BUNDLE, PLUGIN)]
    assert {*versions, package["version"], labels()["org.opencontainers.image.version"]} == {__version__}
    assert manifest(PLUGIN_SERVERS)["mcpServers"]["conversations"]["args"] == [f"conversation-mcp@{__version__}"]


@pytest.mark.parametrize(("name", "count"), [*zip(PLACES, (2, 1, 1, 1, 1), strict=True)])
def test_a_new_version_changes_nothing_but_the_version_of_a_file(name: str, count: int) -> None:
    kept = (ROOT / name).read_text(encoding="utf-8")
    changed = with_version(name, "12.0.0rc3")
    assert changed.count("12.0.0rc3") == count
    assert changed.replace("12.0.0rc3", __version__) == kept


def test_every_variable_is_a_setting_in_its_own_words() -> None:
    (package,) = manifest(SERVER)["packages"]
    for variable in package["environmentVariables"]:
        assert variable["description"] == VARIABLES[variable["name"]]
        assert variable["isSecret"] == variable["name"].endswith("_API_KEY")
    bundle = manifest(BUNDLE)
    plugin = manifest(PLUGIN_SERVERS)["mcpServers"]["conversations"]
    assert VARIABLES.keys() >= bundle["server"]["mcp_config"]["env"].keys() | plugin["env"].keys()


def test_the_bundle_asks_for_what_it_passes_on_and_names_the_tools() -> None:
    bundle = manifest(BUNDLE)
    asked = {f"${{user_config.{name}}}" for name in bundle["user_config"]}
    assert set(bundle["server"]["mcp_config"]["env"].values()) == asked
    assert all(choice["default"] == "" for choice in bundle["user_config"].values()), "unset would be passed on as ${…}"
    assert (ROOT / bundle["server"]["entry_point"]).is_file()
    assert [tool["name"] for tool in bundle["tools"]] == [tool.name for tool in tools_of(["research"])]


def test_an_empty_choice_of_the_bundle_is_an_unset_variable(tmp_path: Path) -> None:
    empty = dict.fromkeys(manifest(BUNDLE)["server"]["mcp_config"]["env"], "")
    loaded = load_settings({}, empty, tmp_path / "config.toml", tmp_path)
    assert loaded == load_settings({}, {}, tmp_path / "config.toml", tmp_path)


@pytest.mark.slow
def test_the_linter_of_dockerfiles_has_no_complaint(tmp_path: Path) -> None:
    linter = shutil.which("hadolint", path=str(Path(sys.executable).parent))
    if linter is None:
        pytest.skip("hadolint is not installed; only our own rules were checked")
    checked = run([linter, str(DOCKERFILE)])
    assert (checked.returncode, checked.stdout) == (0, "")
    broken = tmp_path / "Dockerfile"
    broken.write_text(DOCKERFILE.read_text(encoding="utf-8").replace("USER 10001", "USR 10001"), encoding="utf-8")
    assert run([linter, str(broken)]).returncode != 0


def test_the_image_runs_the_program_as_a_user_without_rights() -> None:
    instructions = instructions_of(DOCKERFILE)
    last = dict(instructions[[word for word, _ in instructions].index("FROM", 1) :])
    assert json.loads(last["ENTRYPOINT"]) == ["conversation-mcp"]
    assert last["USER"].split(":")[0] not in {"", "0", "root"}
    assert json.loads(last["VOLUME"]) == [
        dict(part.split("=") for part in shlex.split(last["ENV"]))["CONVERSATION_LOGS_DIR"]
    ]
    assert f"--owner {last['USER'].split(':')[0]}" in last["RUN"]
    assert any("compileall" in rest for word, rest in instructions if word == "RUN")


def test_the_labels_of_the_image_say_what_the_package_is() -> None:
    said = labels()
    assert said["io.modelcontextprotocol.server.name"] == manifest(SERVER)["name"]
    assert said["org.opencontainers.image.licenses"] == "MIT"
    assert said["org.opencontainers.image.description"]


def test_only_what_the_image_is_made_of_leaves_the_machine() -> None:
    first, *allowed = (line for line in lines_of(".dockerignore") if not line.startswith("#"))
    assert first == "*"
    copied = {
        name
        for word, rest in instructions_of(DOCKERFILE)
        if word == "COPY" and not rest.startswith("--from")
        for name in rest.split()[:-1]
    }
    assert {line.removeprefix("!") for line in allowed if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)


def labels() -> dict[str, str]:
    (text,) = (rest for word, rest in instructions_of(DOCKERFILE) if word == "LABEL")
    return {name: value for name, _, value in (part.partition("=") for part in shlex.split(text))}


def lines_of(name: str) -> list[str]:
    return (ROOT / name).read_text(encoding="utf-8").splitlines()


def lint(kind: str, folder: Path, files: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
    """Let the linter judge the files in a folder of their own."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content), encoding="utf-8")
    root = folder / Path(PLUGIN).parents[1] if kind == "single-plugin" else folder
    linter = str(Path(sys.executable).with_name("skillsaw"))
    only = ["--type", kind, "--skip-rule", "claude-plugin-readme", "--no-plugins", "--no-custom-rules"]
    return run([linter, "lint", "--strict", *only, str(root)])


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, check=False, text=True, encoding="utf-8")
