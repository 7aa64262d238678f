"""Facts about MCP clients: how long each of them waits."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from mcp.server.context import ServerRequestContext

from conversation_mcp.app import App


def load_client_limits() -> Mapping[str, float]:
    """Return, by client name, the seconds that clients wait whose time limit is extended by progress."""
    return tomllib.loads(files("conversation_mcp").joinpath("client_limits.toml").read_text("utf-8"))


def wait_seconds_for(
    request: ServerRequestContext[App, Any], limits: Mapping[str, float], default_seconds: float
) -> float:
    """Return how long this client waits for an answer: longer than the default if progress extends its time limit."""
    meta = request.meta or {}
    params = request.session.client_params
    # Without a token no progress can be sent, so nothing would extend the client's limit.
    if params is None or "progress_token" not in meta:
        return default_seconds
    return max(default_seconds, limits.get(params.client_info.name, 0))
