"""Confirmation at the terminal before a change that cannot be undone, or of another program's file."""

import sys

import typer

from conversation_mcp.cli.exit_codes import FAILED
from conversation_mcp.cli.output.terminal import say
from conversation_mcp.errors import InvalidInputError


def agreed(question: str, *, sure: bool, to: str, otherwise: str) -> None:
    """Return if the user agrees, or has agreed in advance.

    Args:
        question: the question to the user.
        sure: whether the user has agreed in advance, with --yes.
        to: what --yes agrees to, in words.
        otherwise: what to say after a no.

    Raises:
        InvalidInputError: there is no terminal to ask on.
        typer.Exit: the user said no.
    """
    if sure:
        return
    if not sys.stdin.isatty():
        raise InvalidInputError(f"there is no terminal to ask on; add --yes to {to}.")
    if not typer.confirm(question, err=True):
        say(otherwise)
        raise typer.Exit(FAILED)
