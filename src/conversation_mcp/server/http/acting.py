"""For whom a request acts: a chatbot's back end names a user in its call, and its token says whether it may."""

import json
from collections.abc import Mapping
from typing import Any

from mcp.server.context import ServerRequestContext

from conversation_mcp.server.http.callers import Identity, MayActFor, nobody_else
from conversation_mcp.tools.catalog import LOG, TOOL_SETS

STATE = "conversation_mcp.may_act_for"
"""The field of a request's scope in which the front passes on for whom its caller may act."""


def acting_for_user(caller: Identity, body: bytes) -> Identity:
    """Return the caller as it acts for the user whom a call of the log names, if it may; else as it is.

    Only the home is chosen by that: the tool itself refuses to work for anybody but the owner of its home.
    """
    user = _user_named_in(body)
    if user and user != caller.owner and caller.may_act_for(user):
        return caller._replace(owner=user, is_for_another=True)
    return caller


def may_act_for_of(request: ServerRequestContext[Any, Any]) -> MayActFor:
    """Return for whom the caller of a request may act."""
    scope: Mapping[str, Any] | None = getattr(request.request, "scope", None)
    return nobody_else if scope is None else scope.get(STATE, nobody_else)


def _user_named_in(body: bytes) -> str | None:
    if b"tools/call" not in body or (b"userId" not in body and b"user_id" not in body):
        return None
    try:
        call = json.loads(body)
        if call["method"] != "tools/call" or call["params"]["name"] not in TOOL_SETS[LOG]:
            return None
        given = call["params"]["arguments"]
        user = given.get("userId", given.get("user_id"))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return user if isinstance(user, str) else None
