"""The files for operators are accepted by the programs that read them, where these are installed."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.fixtures.balancers import DEPLOY, program, write_site


def accepted(*command: str, folder: Path) -> None:
    run = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=60, cwd=folder, env={"HOME": str(folder)}
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_caddy_accepts_its_file(tmp_path: Path) -> None:
    accepted(
        program("caddy"), "validate", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile", folder=tmp_path
    )


@pytest.mark.slow
def test_nginx_accepts_its_file(tmp_path: Path) -> None:
    nginx, openssl = program("nginx"), program("openssl")
    certificate = ("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=mcp.example.com", "-days", "1")
    accepted(openssl, *certificate, "-keyout", "privkey.pem", "-out", "fullchain.pem", folder=tmp_path)
    site = (DEPLOY / "nginx.conf").read_text(encoding="utf-8").replace("/etc/ssl/mcp.example.com", str(tmp_path))
    nginx_accepts(nginx, site, tmp_path)


@pytest.mark.slow
def test_nginx_accepts_the_file_of_the_balancer(tmp_path: Path) -> None:
    site = (DEPLOY / "balancer.conf").read_text(encoding="utf-8")
    for name in ("one", "two"):  # which only the network of the containers knows
        site = site.replace(f"server {name}:", "server 127.0.0.1:")
    nginx_accepts(program("nginx"), site, tmp_path)


def nginx_accepts(nginx: str, site: str, tmp_path: Path) -> None:
    accepted(nginx, "-t", "-c", str(write_site(tmp_path, site)), folder=tmp_path)


@pytest.mark.slow
def test_systemd_accepts_its_unit(tmp_path: Path) -> None:
    unit = tmp_path / "conversation-mcp.service"
    text = (DEPLOY / unit.name).read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/conversation-mcp/bin/conversation-mcp", shutil.which("true") or "/bin/true"))
    run = subprocess.run(
        [program("systemd-analyze"), "verify", str(unit)], check=False, capture_output=True, text=True, timeout=60
    )
    told = [line for line in run.stderr.splitlines() if "conversation-mcp.service" in line]
    assert told == []
