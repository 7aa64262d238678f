"""Errors of tasks that ran together."""

from typing import cast

from conversation_mcp.errors.base import ConversationMCPError


def single(error: BaseException) -> BaseException:
    """Return the one error that a reader of a group should see: one that is written for readers, else the first."""
    errors = _leaves(error)
    return next((each for each in errors if isinstance(each, ConversationMCPError)), errors[0])


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        return [leaf for each in group.exceptions for leaf in _leaves(each)]
    return [error]
