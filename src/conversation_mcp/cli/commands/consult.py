"""The command `consult`: a whole workflow, with a model in place of an agent."""

from pathlib import Path
from typing import Annotated

import typer

from conversation_mcp.cli.options import AsJson, Continue, Files, Images, LogsDir, ModelName, Owner
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.options import Effort


def consult(
    *,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="A workflow: `workflows` lists them.")],
    request: Annotated[str, typer.Argument(metavar="REQUEST", help="What it is about.")] = "",
    conversation: Continue = None,
    file: Files = None,
    image: Images = None,
    model: ModelName = None,
    effort: Annotated[
        Effort | None, typer.Option(help="How hard the model thinks. Default: as the workflow says.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the workflow; may be repeated."),
    ] = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Have a model judge something by a workflow, such as codereview.

    No agent takes steps: the request and the files are step 1, and the model that ends the workflow judges them.
    codereview and precommit take the change of the repository in the working folder if no file is named.
    """
    from conversation_mcp.cli.questions.consult import TypedConsult, consult_and_show

    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    typed = TypedConsult(
        workflow=workflow,
        request=request,
        conversation=conversation,
        files=tuple(file or ()),
        images=tuple(image or ()),
        folder=Path.cwd(),
        model=model,
        effort=effort,
        options=dict(map(_pair, option or ())),
    )
    raise typer.Exit(consult_and_show(settings, typed, as_json=as_json))


def _pair(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise InvalidInputError(f"an option is NAME=VALUE, such as reviewType=security; got {text!r}.")
    return name, value
