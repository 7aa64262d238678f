"""The package as others get it: built, looked into, installed into an empty environment, started."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from pathlib import Path

import pytest
from tests.fixtures.documents import written

from conversation_mcp import __version__

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "conversation_mcp"
MADE_OF = ("pyproject.toml", "README.md", "LICENSE", "src")
BIN = Path(sys.executable).parent
PRIVATE = {"conversation-logs/20260131-1769817600000/conversation.json": "{}", ".env": "PERPLEXITY_API_KEY=x"}
OUT_OF_REACH = ("connection", "name resolution", "timed out", "dns error", "error sending request")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def run(command: list[str], *, cwd: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **changes}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, check=False, text=True, encoding="utf-8"
    )


def needing_packages(command: list[str], *, cwd: Path, **changes: str) -> str:
    """Run what has to download packages and return what it printed; skip the test where none can be had."""
    done = run(command, cwd=cwd, **changes)
    if done.returncode and any(sign in done.stderr.lower() for sign in OUT_OF_REACH):
        pytest.skip("no package can be downloaded here")
    assert done.returncode == 0, done.stderr
    return done.stdout


def build(folder: Path) -> dict[str, bytes]:
    """Build the package from a copy of its sources and return the files that come out."""
    source = folder / "source"
    source.mkdir(parents=True)
    for name in MADE_OF:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(ROOT / name, source / name)
    written(source, PRIVATE)
    built = run([sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "dist")], cwd=source)
    assert built.returncode == 0, built.stdout + built.stderr
    return {path.name: path.read_bytes() for path in (folder / "dist").iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder of a build."""
    folder = tmp_path_factory.mktemp("built")
    build(folder)
    yield folder / "dist"
    shutil.rmtree(folder)


@pytest.fixture
def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def test_building_twice_gives_the_same_files(built: Path, tmp_path: Path) -> None:
    first = {path.name: path.read_bytes() for path in built.iterdir()}
    before = os.umask(0o077)
    try:
        again = build(tmp_path)
    finally:
        os.umask(before)
    assert sorted(first) == [
        f"conversation_mcp-{__version__}-py3-none-any.whl",
        f"conversation_mcp-{__version__}.tar.gz",
    ]
    assert again == first


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel: Path) -> None:
    expected = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    about = f"conversation_mcp-{__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        assert names == expected | {
            f"{about}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")
        }
        metadata = message_from_bytes(archive.read(f"{about}/METADATA"))
    assert {"py.typed", "client_limits.toml", "prompting/prompts/search.md", "providers/perplexity/facts.toml"} <= {
        name.removeprefix("conversation_mcp/") for name in names
    }
    assert metadata["Name"] == "conversation-mcp"
    assert metadata["License-Expression"] == "MIT"
    assert str(metadata.get_payload()).startswith("# conversation-mcp")


def test_the_source_archive_holds_no_conversation_and_no_key(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as content:
        names = content.getnames()
    assert any(name.endswith("/src/conversation_mcp/__main__.py") for name in names)
    assert [name for name in names if name.partition("/")[2] in PRIVATE] == []


def test_an_empty_environment_gets_a_program_that_works(wheel: Path, tmp_path: Path) -> None:
    run([sys.executable, "-m", "venv", str(tmp_path / "venv")], cwd=tmp_path)
    python = tmp_path / "venv" / BIN.name / Path(sys.executable).name
    pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    needing_packages([*pip, "install", "--quiet", "--retries", "1", *constraints, str(wheel)], cwd=tmp_path)
    program = str(python.with_name("conversation-mcp"))
    assert run([program, "--version"], cwd=tmp_path).stdout == f"conversation-mcp {__version__}\n"
    assert run([*pip, "check"], cwd=tmp_path).returncode == 0
    examined = run([program, "doctor", "--documents", str(ROOT / "docs")], cwd=tmp_path, **nobody(tmp_path))
    assert examined.returncode == 0, examined.stdout + examined.stderr
    assert "server answers: initialize" in " ".join(examined.stdout.split())


def test_uvx_starts_the_program_from_the_sources(tmp_path: Path) -> None:
    command = [str(BIN / "uvx"), *of_this_python("--constraints"), "--from", str(ROOT), "conversation-mcp", "--version"]
    said = needing_packages(command, cwd=tmp_path, UV_CACHE_DIR=str(tmp_path / "cache"))
    assert said == f"conversation-mcp {__version__}\n"


def test_the_bundle_for_desktops_holds_all_that_its_manifest_starts(tmp_path: Path) -> None:
    if not (ROOT / ".venv" / ".installed-mcpb").exists():
        pytest.skip("the packer of mcpb bundles is not installed")
    packed = run(["make", "bundle", f"BUNDLE={tmp_path}"], cwd=ROOT)
    assert packed.returncode == 0, packed.stdout + packed.stderr
    with zipfile.ZipFile(tmp_path / "conversation-mcp.mcpb") as archive:
        names = archive.namelist()
    shutil.unpack_archive(tmp_path / "conversation-mcp.mcpb", tmp_path / "unpacked", "zip")
    assert {name.partition("/")[0] for name in names} == {"manifest.json", *MADE_OF}
    assert [name for name in names if "__pycache__" in name] == []
    command = [str(BIN / "uv"), "run", "--no-dev", *of_this_python(), "--directory", str(tmp_path / "unpacked")]
    said = needing_packages(
        [*command, "conversation-mcp", "--version"], cwd=tmp_path, UV_CACHE_DIR=str(tmp_path / "cache")
    )
    assert said == f"conversation-mcp {__version__}\n"


def of_this_python(constraints: str = "") -> list[str]:
    """Return the options that keep uv to the interpreter of this run and, if it can be told, to the pinned versions."""
    pinned = [constraints, str(ROOT / "constraints.txt")] if constraints else []
    return ["--no-python-downloads", "--python", sys.executable, *pinned]


def nobody(home: Path) -> Mapping[str, str]:
    """Return the folders of a user who has set nothing up."""
    return {
        "HOME": str(home),
        **{name: str(home / name) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")},
    }
