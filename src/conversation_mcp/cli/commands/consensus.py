"""The command `consensus`: asks several models the same question."""

from pathlib import Path
from typing import Annotated, Any

import typer

from conversation_mcp.cli.options import AsJson, Continue, Files, Images, LogsDir, Owner
from conversation_mcp.cli.questions.sent_along import sent_along
from conversation_mcp.cli.setup import settings_from

STANCES = ("for", "against", "neutral")


def consensus(
    *,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The proposal or question.")],
    model: Annotated[
        list[str],
        typer.Option(
            "--model",
            "-m",
            metavar="MODEL[:STANCE]",
            help="A model to ask, and its stance: for, against or neutral; given two to ten times.",
        ),
    ],
    synthesis: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A model that then sums up all verdicts.")
    ] = None,
    conversation: Continue = None,
    file: Files = None,
    image: Images = None,
    as_json: AsJson = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
) -> None:
    """Ask several models the same question, side by side.

    None sees the verdict of another one. All verdicts are kept in the conversation. A model that fails is named, and
    the others stand.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner}).settings
    from conversation_mcp.cli.questions.question import TypedQuestion, ask_and_show, named

    arguments: dict[str, Any] = {"models": [seat_of(text) for text in model]}
    asked = TypedQuestion(
        text=question,
        conversation=conversation,
        kind="consensus",
        arguments=arguments | ({"synthesis": synthesis} if synthesis else {}),
        sent=sent_along(file or (), image or (), Path.cwd()),
    )
    raise typer.Exit(ask_and_show(settings, named(settings, asked), as_json=as_json).code)


def seat_of(text: str) -> dict[str, str]:
    """Return the model and the stance that were typed; a name may have colons itself."""
    name, mark, stance = text.rpartition(":")
    return {"model": name, "stance": stance} if mark and stance in STANCES else {"model": text}
