"""What is installed has its version written down, and nothing says from where."""

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONFIGURATION = [
    path
    for pattern in (
        "*.toml",
        "*.txt",
        "*.json",
        "Makefile",
        "Dockerfile",
        ".[dg]*ignore",
        ".ci/*",
        "packaging/**/*.json",
    )
    for path in ROOT.glob(pattern)
] + [*ROOT.glob("tests/*/*.txt"), *ROOT.glob("tests/*/*.json")]
OF_THE_ENVIRONMENT = {"pip", "setuptools", "wheel", "conversation-mcp", "conversation-mcp-minilm"}
PIN = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([A-Za-z0-9.!+]+)")
SOURCE = re.compile(
    r"https?://\S+/simple\b|registry[.:=]|(?:index|find)[-_](?:url|links)|trusted[-_]host|--(?:registry|proxy)\b",
    re.IGNORECASE,
)
ADDRESS = re.compile(r"https?://([^/\s\"']+)")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    found = [PIN.fullmatch(line) for line in lines if not line.startswith("#")]
    assert None not in found, "constraints.txt holds names and versions only"
    return {normal(pin[1]): pin[2] for pin in found if pin}


def test_every_package_that_is_installed_is_pinned_to_its_version() -> None:
    installed = {normal(package.name): package.version for package in distributions()}
    missing = {name: version for name, version in installed.items() if name not in OF_THE_ENVIRONMENT}
    assert len(missing) > 40
    assert missing.items() - pins().items() == set()


@pytest.mark.parametrize("path", CONFIGURATION, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_configuration_names_a_registry(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert SOURCE.findall(text) == []
    assert set(ADDRESS.findall(text)) <= {"static.modelcontextprotocol.io"}


def test_the_look_at_the_configuration_sees_what_it_should() -> None:
    assert {"pyproject.toml", "constraints.txt", "Makefile", "Dockerfile", "run", "manifest.json", ".dockerignore"} <= {
        path.name for path in CONFIGURATION
    }
    lines = (
        "index-url = https://a.example/simple",
        "registry=https://b.example",
        "-i https://c.example/simple",
        "--proxy x",
    )
    assert all(SOURCE.search(line) for line in lines)
