"""The compose file and the Kubernetes manifest name what there is, and keep the servers confined."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from tests.fixtures.databases import BIN, PostgreSQL

from conversation_mcp.settings import Settings
from conversation_mcp.sources import provider_settings, variable_of
from conversation_mcp.stores.catalog import open_tables
from conversation_mcp.stores.postgresql.schema import missing_vectors

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
IDENTITY = "10001"
"""The user of the image."""


@pytest.fixture
def compose() -> dict[str, Any]:
    return yaml.safe_load((PACKAGING / "compose.yaml").read_text(encoding="utf-8"))


@pytest.fixture
def objects() -> dict[str, Any]:
    """The objects of the manifest by their kinds."""
    text = (PACKAGING / "kubernetes.yaml").read_text(encoding="utf-8")
    return {each["kind"]: each for each in yaml.safe_load_all(text)}


@pytest.fixture
def pod(objects: dict[str, Any]) -> dict[str, Any]:
    return objects["Deployment"]["spec"]["template"]["spec"]


@pytest.mark.parametrize("name", ["compose.yaml", "kubernetes.yaml"])
def test_every_setting_and_option_in_them_exists(name: str) -> None:
    text = (PACKAGING / name).read_text(encoding="utf-8")
    known = {variable_of(field) for field in Settings.model_fields}
    known |= {variable for setting in provider_settings() for variable in setting.variables}
    named = set(re.findall(r"\b(?:CONVERSATION_MCP|PERPLEXITY)_[A-Z_]+\b", text))
    assert named
    assert named <= known
    commands = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for option in re.findall(r"(?<=[\s,\[])--(?:http|host|allowed-host)\b", text):
        assert option in commands


def test_every_service_waits_for_services_and_uses_volumes_that_there_are(compose: dict[str, Any]) -> None:
    services = compose["services"]
    for name, service in services.items():
        assert set(service.get("depends_on", ())) <= set(services), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (PACKAGING / source).is_file(), volume
        for config in service.get("configs", ()):
            assert config["source"] in compose["configs"]
    balancer = (PACKAGING / "deploy" / "balancer.conf").read_text(encoding="utf-8")
    servers = re.findall(r"server (\w+):8765", balancer)
    assert servers == [name for name, service in services.items() if service.get("command", [""])[0] == "serve"]


def test_servers_of_the_compose_file_are_confined_and_only_the_balancer_is_reached(compose: dict[str, Any]) -> None:
    for name in ("one", "two", "migration"):
        service = compose["services"][name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "ports" not in service
    assert all(port.startswith("127.0.0.1:") for port in compose["services"]["balancer"]["ports"])


@pytest.mark.slow
def test_the_compose_file_makes_a_role_without_rights_and_a_database_that_finds_by_meaning(
    compose: dict[str, Any], database: PostgreSQL
) -> None:
    script = compose["configs"]["role"]["content"].replace("$$", "$").replace("conversations", "by_the_book")
    server = {"PGHOST": str(database.folder), "PGUSER": "postgres", "POSTGRES_PASSWORD": "it's secret"}
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **server}
    subprocess.run(["/bin/sh", "-c", script], check=True, stdout=subprocess.DEVNULL, env=environment)
    url = database.url("by_the_book", "by_the_book")
    assert open_tables(url).migrate()
    with psycopg.connect(url) as connection:
        assert missing_vectors(connection) is None
        [is_exempt] = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone() or [
            None
        ]
        assert is_exempt is False
    database.drop(url)
    database.admin("DROP ROLE by_the_book")


def test_pods_run_without_rights(pod: dict[str, Any]) -> None:
    user = pod["securityContext"]
    assert user["runAsNonRoot"] is True
    assert str(user["runAsUser"]) == str(user["runAsGroup"]) == IDENTITY
    assert f"USER {IDENTITY}:{IDENTITY}" in (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert pod["automountServiceAccountToken"] is False
    for container in (*pod["initContainers"], *pod["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert {"requests", "limits"} <= container["resources"].keys()
        mounted = {each["name"] for each in container["volumeMounts"]}
        assert mounted == {each["name"] for each in pod["volumes"]}


def test_pods_are_probed_at_the_paths_of_the_server(pod: dict[str, Any]) -> None:
    [server] = pod["containers"]
    paths = {probe: server[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {"startupProbe": "/health", "livenessProbe": "/health", "readinessProbe": "/ready"}
    [port] = server["ports"]
    assert {server[probe]["httpGet"]["port"] for probe in paths} == {port["name"]}


def test_pods_are_found_by_their_label_and_never_all_away(objects: dict[str, Any]) -> None:
    deployment, budget = objects["Deployment"]["spec"], objects["PodDisruptionBudget"]["spec"]
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"] == budget["selector"]["matchLabels"] == labels
    assert objects["Service"]["spec"]["selector"] == labels
    assert 0 < budget["minAvailable"] < deployment["replicas"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
