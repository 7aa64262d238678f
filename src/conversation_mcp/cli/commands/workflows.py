"""The command `workflows`: lists, shows and tries definitions of workflows."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.options import AsJson
from conversation_mcp.cli.output.terminal import console, is_terminal, printable, put, put_fields, put_json, say
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.text import counted
from conversation_mcp.workflows.definition import Workflow
from conversation_mcp.workflows.library import WorkflowFile, Workflows, left_out_notice, read_workflow
from conversation_mcp.workflows.readable import readable
from conversation_mcp.workflows.trial import Tried, try_definition

workflows = typer.Typer()
Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a workflow.")]
File = Annotated[Path, typer.Argument(metavar="FILE", help="A definition, such as my-review.md.")]


def _workflows() -> Workflows:
    return Workflows(settings_from({}).settings.workflows_dir)


@workflows.callback(invoke_without_command=True)
def list_workflows(*, context: typer.Context, as_json: AsJson = False) -> None:
    """Show the workflows, and try your own.

    In a pipe, each workflow is a line of name, kind, owner, purpose and what is wrong with it, separated by tabs.
    """
    if context.invoked_subcommand is not None:
        return
    known = _workflows()
    found = list(known.all())
    if as_json:
        put_json([_data(file) for file in found])
    elif is_terminal():
        _show_list(found)
    else:
        put_fields(map(_fields, found))
    if notice := left_out_notice(known.left_out()):
        say(f"Notice: {notice}.")


@workflows.command("show")
def show_workflow(
    *, name: Name, raw: Annotated[bool, typer.Option("--raw", help="Print the file as it is.")] = False
) -> None:
    """Show a workflow: what it is for, its options, what it says and when, and its prompt."""
    known = _workflows()
    if raw:
        put(known.file(name).text, end="")
        return
    known.find(name)
    file = known.file(name)
    if file.definition is not None:
        put(readable(file.definition, "your own" if file.is_own else "shipped"))


@workflows.command("check")
def check_workflow(*, file: File, as_json: AsJson = False) -> None:
    """Check a definition, and try a made-up run of it for each of its choices. No model is asked."""
    found = read_workflow(file)
    problems = list(found.problems)
    runs: list[Tried] = []
    if found.definition is not None:
        try:
            runs = list(try_definition(found.definition))
        except InvalidInputError as error:
            problems.append(f"{file}: {error.message}")
    if as_json:
        put_json({"file": str(file), "problems": problems, "runs": [_run_data(run) for run in runs]})
    elif not problems and found.definition is not None:
        _show_runs(found.definition, runs)
    if problems:
        for problem in problems if not as_json else ():
            say(problem)
        raise typer.Exit(FAILED)


def _data(file: WorkflowFile) -> dict[str, object]:
    definition = file.definition
    return {
        "name": file.name,
        **({"kind": definition.kind, "summary": definition.summary} if definition else {}),
        "own": file.is_own,
        "path": file.path,
        **({"problems": list(file.problems)} if file.problems else {}),
    }


def _fields(file: WorkflowFile) -> Iterable[str]:
    definition = file.definition
    return (
        file.name,
        definition.kind if definition else "",
        "own" if file.is_own else "shipped",
        definition.summary if definition else "",
        file.problem,
    )


def _show_list(found: Iterable[WorkflowFile]) -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("workflow", "kind", "from", "what for"):
        table.add_column(title, overflow="fold")
    for file in found:
        name, kind, owner, summary, problem = _fields(file)
        table.add_row(*map(printable, (name, kind, owner, f"not usable: {problem}" if problem else summary)))
    console().print(table)


def _run_data(run: Tried) -> dict[str, object]:
    states = [{"step": each.step.step_number, "state": each.state, "guidance": each.guidance} for each in run.steps]
    return {"with": run.name, "steps": states, "message": run.message}


def _show_runs(definition: Workflow, runs: Iterable[Tried]) -> None:
    put(f"{definition.name} is valid.")
    for run in runs:
        put(f"\nA run{f' with {run.name}' if run.name else ''}: {counted(len(run.steps), 'step')}")
        for each in run.steps:
            put(f"  {each.step.step_number}. {each.state}: {each.guidance}")
        if not definition.prompt or not run.steps or run.steps[-1].state != "validation_due":
            continue
        put(f"  A model would get {len(run.message):,} characters.")
