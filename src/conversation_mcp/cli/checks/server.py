"""The checks that try things out: the server itself, and the keys of the providers."""

import os
import sys
import tempfile
import time
from typing import TextIO

import anyio

from conversation_mcp.cancellation import finish
from conversation_mcp.errors import ConversationMCPError, ProviderRejectedError
from conversation_mcp.errors.groups import single
from conversation_mcp.logs import redact
from conversation_mcp.providers.base import Checkable, as_defined
from conversation_mcp.providers.catalog import ProviderContext, build_providers
from conversation_mcp.providers.client import LazyClient
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import Settings
from conversation_mcp.tooling.steps import COMMANDS

SELF_CHECK_SECONDS = 60


async def check_server(settings: Settings) -> Finding:
    """Start the server as a client does and list its tools."""
    from mcp import Client, StdioServerParameters, stdio_client

    documents = [part for path in settings.documents for part in ("--documents", str(path))]
    place = () if settings.store else ("--logs-dir", str(settings.logs_dir))
    options = [*place, "--tools", ",".join(settings.tools), *documents]
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "conversation_mcp", "serve", *options], env=dict(os.environ)
    )
    started = time.perf_counter()
    # The server's stderr is kept, because only it says why a start failed.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        try:
            with anyio.fail_after(SELF_CHECK_SECONDS):
                async with Client(stdio_client(command, errlog=said)) as client:
                    listed = await client.list_tools()
                    seconds = time.perf_counter() - started
        except Exception as error:  # noqa: BLE001 -- whatever breaks is what the doctor is asked for
            return Finding("fail", f"the server does not answer: {_reason(single(error), said)}")
    # The size of the list is what the tools take up in every context of a client.
    size = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())
    return Finding("ok", f"server answers: initialize, {len(listed.tools)} tools, {size:,} bytes, {seconds:.1f} s")


def _reason(error: BaseException, said: TextIO) -> str:
    """Return why there is no answer: the last line that the server wrote to stderr, or else the error."""
    if isinstance(error, TimeoutError):
        return f"it was silent for {SELF_CHECK_SECONDS} s"
    said.seek(0)
    lines = said.read().strip().splitlines()
    return redact(lines[-1].strip()) if lines else str(error) or type(error).__name__


async def check_online(settings: Settings) -> list[Finding]:
    """Try the keys of the configured providers with a call that costs nothing.

    A local server that no setting names is mentioned only if it answers.
    """
    client = LazyClient()
    try:
        found: list[Finding] = []
        for provider in build_providers(ProviderContext(settings, client)):
            if isinstance(provider, Checkable):
                defined = as_defined(provider)
                is_named = defined is None or defined.configured.is_certain
                finding = await _tried(provider.name, provider, is_gateway=_has_own_address(settings, provider.name))
                found += [finding] if is_named or finding.state == "ok" else []
        return found
    finally:
        await finish(client.aclose())


def _has_own_address(settings: Settings, provider: str) -> bool:
    return settings.provider(provider).base_url is not None


async def _tried(name: str, provider: Checkable, *, is_gateway: bool) -> Finding:
    try:
        return Finding("ok", f"{name} takes the key: {await provider.check()}")
    except ProviderRejectedError as error:
        # A gateway may lack the list of models, which the check asks for, and still answer questions.
        return Finding("warn" if is_gateway else "fail", f"{name}: {error.sentence(COMMANDS)}")
    except ConversationMCPError as error:
        return Finding("fail", f"{name}: {error.sentence(COMMANDS)}")
