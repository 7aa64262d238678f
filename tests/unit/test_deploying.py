"""The files for operators are accepted by the programs that read them, where these are installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DEPLOY = Path(__file__).parents[2] / "packaging" / "deploy"
REQUIRED = os.environ.get("DEPLOY_CHECKS") == "required"


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    if found is None:
        problem = f"{name} is not installed: `make proxies` installs what there is of it in Debian"
        pytest.fail(problem) if REQUIRED else pytest.skip(problem)
    return found


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
    (tmp_path / "site.conf").write_text(site, encoding="utf-8")
    whole = f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\ninclude {tmp_path}/site.conf;\n}}\n"
    (tmp_path / "nginx.conf").write_text(whole, encoding="utf-8")
    accepted(nginx, "-t", "-c", str(tmp_path / "nginx.conf"), folder=tmp_path)


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
