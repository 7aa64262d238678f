"""The command `ask`: asks a question and prints the answer."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from conversation_mcp.cli.options import (
    Continue,
    ContinueFrom,
    Documents,
    Files,
    Images,
    LogsDir,
    ModelName,
    Owner,
    System,
)
from conversation_mcp.cli.questions.piped import stdin_text
from conversation_mcp.cli.questions.sent_along import FROM_PIPE, sent_along
from conversation_mcp.cli.selection.moments import day_at
from conversation_mcp.cli.setup import settings_from
from conversation_mcp.errors import InvalidInputError

FROM_STDIN = "-"


def ask(
    *,
    question: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTION",
            help="The question. Text from a pipe or a file goes with it; - waits for that as long as it takes.",
            show_default=False,
        ),
    ] = None,
    conversation: Continue = None,
    continue_from: ContinueFrom = None,
    file: Files = None,
    image: Images = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Open a prompt for more questions in the conversation.")
    ] = False,
    system: System = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Research thoroughly: minutes, many sources, more cost.")
    ] = False,
    chat: Annotated[bool, typer.Option("--chat", help="Talk to a model, without a search.")] = False,
    model: ModelName = None,
    recency: Annotated[
        Literal["hour", "day", "week", "month", "year"] | None, typer.Option(help="Only pages this recent.")
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option(metavar="DOMAIN", help="Only this domain, or with a leading - exclude it; may be repeated."),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after", "--since", metavar="DATE", help="Only pages from after this day: 2026-01-31, or 2d ago."
        ),
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", "--until", metavar="DATE", help="Only pages from before this day.")
    ] = None,
    academic: Annotated[bool, typer.Option("--academic", help="Prefer scholarly sources.")] = False,
    related: Annotated[bool, typer.Option("--related", help="Also get related questions.")] = False,
    effort: Annotated[
        Literal["minimal", "low", "medium", "high", "max"] | None,
        typer.Option(help="How hard the research or the model tries; goes with --deep or --chat."),
    ] = None,
    show_thinking: Annotated[
        bool, typer.Option("--show-thinking", help="Also show the model's reasoning, if it gives any.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")] = False,
    logs_dir: LogsDir = None,
    owner: Owner = None,
    documents: Documents = None,
) -> None:
    """Ask a question and keep the answer.

    It opens a conversation, or continues one with -c. A question that gets no answer is kept, too. Text from a pipe or
    a file is added below the question. In a pipe, only the answer and its sources go to stdout.
    """
    arguments: dict[str, Any] = {
        "model": model,
        "search_recency_filter": recency,
        "search_domain_filter": domain or None,
        "search_after_date_filter": after and day_at(after),
        "search_before_date_filter": before and day_at(before),
        "search_mode": "academic" if academic else None,
        "return_related_questions": related or None,
        "reasoning_effort": effort,
        "show_thinking": show_thinking or None,
    }
    if chat and deep:
        raise InvalidInputError("--chat and --deep cannot be combined.")
    if interactive and as_json:
        raise InvalidInputError("-i is for people, --json for programs; give one.")
    words = question or ()
    reads_pipe = FROM_PIPE in (*(file or ()), *(image or ()))
    if reads_pipe:
        _check_pipe(words, interactive=interactive)
    settings = settings_from({"logs_dir": logs_dir, "owner": owner, "documents": documents or None}).settings
    text = _typed(words) if interactive or reads_pipe else _question(words, settings.max_question_chars)
    from conversation_mcp.cli.questions.chat import chat_until_left
    from conversation_mcp.cli.questions.question import TypedQuestion, ask_and_show, named

    asked = TypedQuestion(
        text=text,
        conversation=conversation,
        kind="chat" if chat else "research" if deep else "search",
        arguments={name: value for name, value in arguments.items() if value is not None},
        system=system,
        sent=sent_along(file or (), image or (), Path.cwd()),
        continue_from=continue_from,
    )
    if interactive:
        raise typer.Exit(chat_until_left(settings, named(settings, asked)))
    raise typer.Exit(ask_and_show(settings, named(settings, asked), as_json=as_json).code)


def _check_pipe(words: Sequence[str], *, interactive: bool) -> None:
    """Refuse to read the pipe as a file if the question would have to come from it, too.

    Raises:
        InvalidInputError: it would.
    """
    if interactive:
        raise InvalidInputError("-i reads questions from stdin, which cannot be a file, too.")
    if FROM_STDIN in words:
        raise InvalidInputError("the pipe can be the question (-) or a file (-f -), not both.")
    if not _typed(words).strip():
        raise InvalidInputError("the pipe is read as a file, so the question must be typed.")


def _question(words: Sequence[str], max_chars: int) -> str:
    """Return the typed question, with the text from stdin below it.

    Raises:
        InvalidInputError: there is no question, or more than one.
    """
    typed = _typed(words)
    if not words and sys.stdin.isatty():
        raise InvalidInputError('there is no question. Type one, conversation-mcp ask "…", or send it through a pipe.')
    given = stdin_text(max_chars, patient=not typed or FROM_STDIN in words)
    text = "\n\n".join(filter(str.strip, (typed, given)))
    if not text:
        raise InvalidInputError("the question is empty.")
    return text


def _typed(words: Sequence[str]) -> str:
    typed = [word for word in words if word != FROM_STDIN]
    if len(typed) > 1:
        raise InvalidInputError(f'the question must be one argument; put it in quotes: "{" ".join(typed)}"')
    return typed[0] if typed else ""
