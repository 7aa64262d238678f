"""Errors of a task group."""

from typing import cast

from conversation_mcp.errors.base import ConversationMCPError


def single(error: BaseException) -> BaseException:
    """Return the one error of a group to show: one that is written for users, else the first."""
    errors = _leaves(error)
    return next((each for each in errors if isinstance(each, ConversationMCPError)), errors[0])


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for each in group.exceptions for leaf in _leaves(each)]
    return [error]
