"""The command `chat`: opens a prompt for one conversation."""

from typing import Annotated, Literal

import typer

from conversation_mcp.cli.options import Continue, Documents, LogsDir, ModelName, Owner, System
from conversation_mcp.cli.setup import settings_from


def chat(
    *,
    question: Annotated[str | None, typer.Argument(metavar="QUESTION", help="The first question.")] = None,
    conversation: Continue = None,
    model: ModelName = None,
    system: System = None,
    effort: Annotated[
        Literal["minimal", "low", "medium", "high", "max"] | None,
        typer.Option(help="How hard the model tries, if it can."),
    ] = None,
    logs_dir: LogsDir = None,
    owner: Owner = None,
    documents: Documents = None,
) -> None:
    """Open a prompt that remembers.

    Each line is a question to a model, all in one conversation, which is kept like any other. The same as ask --chat
    -i: at the prompt, /search and /deep switch to searches, and /help shows the rest. Ctrl-C stops a question, Ctrl-D
    ends.
    """
    settings = settings_from({"logs_dir": logs_dir, "owner": owner, "documents": documents or None}).settings
    from conversation_mcp.cli.questions.chat import chat_until_left
    from conversation_mcp.cli.questions.question import TypedQuestion, named

    arguments = {"model": model, "reasoning_effort": effort}
    given = {name: value for name, value in arguments.items() if value is not None}
    first = TypedQuestion(question or "", conversation, "chat", given, system)
    raise typer.Exit(chat_until_left(settings, named(settings, first)))
