"""Asks the person at the terminal before something cannot be undone, or is done to somebody else's file."""

import sys

import typer

from conversation_mcp.cli.output.terminal import say
from conversation_mcp.cli.usage import FAILED, WrongUsageError


def agreed(question: str, *, sure: bool, to: str, otherwise: str) -> None:
    """Go on if a person agrees, or has agreed before.

    Args:
        question: what the person is asked.
        sure: whether the person has agreed before.
        to: what --yes agrees to, in words.
        otherwise: what is said after a no.

    Raises:
        WrongUsageError: nobody can be asked.
        typer.Exit: the person said no.
    """
    if sure:
        return
    if not sys.stdin.isatty():
        raise WrongUsageError(f"nobody can be asked here; add --yes to {to}.")
    if not typer.confirm(question, err=True):
        say(otherwise)
        raise typer.Exit(FAILED)
