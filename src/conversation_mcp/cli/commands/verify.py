"""The command `verify`: checks everything that is stored."""

import typer

from conversation_mcp.cli.checks.library import check_library
from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson, LogsDir, Owner
from conversation_mcp.cli.output.terminal import put, put_json
from conversation_mcp.cli.setup import finder_from
from conversation_mcp.records.findings import Finding


def verify(*, as_json: AsJson = False, logs_dir: LogsDir = None, owner: Owner = None) -> None:
    """Check every conversation and the index.

    Reports files that cannot be read, messages out of order, questions without an answer, contents that questions name
    and that are missing or have changed, files that do not belong there, and differences between the index and the
    files. Nothing is changed. The exit code is 1 if something is broken.
    """
    findings: list[Finding] = []
    for finding in check_library(finder_from(logs_dir, owner)):
        findings.append(finding)
        if not as_json:
            put(finding.line())
    if as_json:
        put_json({"findings": [{"state": finding.state, "text": finding.text} for finding in findings]})
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(FAILED)
