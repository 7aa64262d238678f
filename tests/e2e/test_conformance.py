"""The official conformance suite: on the server with the suite's fixtures, and on `serve --http` as it is."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.fixtures.http_process import http_process
from tests.fixtures.node import node_program
from tests.fixtures.processes import ROOT, environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
REVISIONS = pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
BASELINES = ROOT / "tests" / "conformance"


@contextmanager
def serving(folder: Path) -> Generator[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.conformance", str(folder)],
        env=environment(folder),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        assert process.stdin
        url = process.stdout.readline().strip()
        try:
            yield url
        finally:
            process.stdin.close()


def run_suite(folder: Path, url: str, *options: str) -> str:
    command = [*node_program("conformance"), "server", "--url", url, "-o", str(folder / "results"), *options]
    run = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stdout[-5_000:] + run.stderr
    return run.stdout


def outcomes(folder: Path) -> dict[str, bool]:
    """Return of each scenario that was run whether all of it succeeded, also where the suite does not score it."""
    found: dict[str, bool] = {}
    for path in (folder / "results").glob("server-*/checks.json"):
        scenario = path.parent.name.removeprefix("server-").rpartition("-20")[0]
        statuses = {check["status"] for check in json.loads(path.read_text(encoding="utf-8"))}
        found[scenario] = bool(statuses) and statuses.isdisjoint({"FAILURE", "WARNING"})
    return found


@REVISIONS
def test_with_the_suites_fixtures_every_scenario_passes(tmp_path: Path, revision: str) -> None:
    node_program("conformance")
    with serving(tmp_path) as url:
        run_suite(tmp_path, url, "--requirements", revision)
    passed = outcomes(tmp_path)
    assert {scenario for scenario, has_passed in passed.items() if not has_passed} == set()
    assert len(passed) > 30


@REVISIONS
def test_the_product_as_it_is_fails_only_what_has_its_reason_in_the_baseline(tmp_path: Path, revision: str) -> None:
    node_program("conformance")
    baseline = BASELINES / f"plain-{revision}.yml"
    with http_process(tmp_path) as server:
        report = run_suite(tmp_path, server.url, "--requirements", revision, "--expected-failures", str(baseline))
    assert "Baseline check passed" in report
