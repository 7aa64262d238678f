"""`doctor`: what is set, from where, and whether it works."""

import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal, cast

import anyio
from rich.console import Console

from conversation_mcp import __version__
from conversation_mcp.bootstrap import utc_now
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.models import Conversation
from conversation_mcp.settings import LoadedSettings, Settings, config_path, variable_of
from conversation_mcp.stores.catalog import build_store
from conversation_mcp.stores.ids import created_at

PRIVATE_MODE = 0o700
WRITABLE_BY_OTHERS = 0o022
SELF_CHECK_SECONDS = 60


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    state: Literal["ok", "warn", "fail"]
    text: str


def examine(loaded: LoadedSettings) -> bool:
    """Print the report; return False when something fails."""
    console = Console(highlight=False, soft_wrap=True)
    sound = True
    for finding in _findings(loaded):
        console.print(f"  {finding.state:<5} {finding.text}", markup=False)
        sound = sound and finding.state != "fail"
    console.print(f"  Claude Code:  claude mcp add conversations -- {_installation()}", markup=False)
    return sound


def _findings(loaded: LoadedSettings) -> Iterable[Finding]:
    settings = loaded.settings
    yield Finding(
        "ok", f"version {__version__}, SDK {version('mcp')}, Python {platform.python_version()} at {sys.executable}"
    )
    config = config_path()
    yield Finding("ok", f"configuration file {config}" + ("" if config.exists() else " (there is none)"))
    yield from _settings(loaded)
    yield from _keys(loaded)
    yield from _documents(settings)
    yield from _folder(loaded)
    yield anyio.run(_check_store, settings)
    yield anyio.run(_check_server, settings)


def _settings(loaded: LoadedSettings) -> Iterable[Finding]:
    for name, origin in loaded.origins.items():
        if name not in ("perplexity_api_key", "logs_dir"):
            yield Finding("ok", f"{variable_of(name)} = {_shown(getattr(loaded.settings, name))} (from {origin})")


def _shown(value: object) -> str:
    return ", ".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)


def _keys(loaded: LoadedSettings) -> Iterable[Finding]:
    if key := loaded.settings.perplexity_api_key:
        shown = key.get_secret_value()[-4:]
        yield Finding(
            "warn", f"PERPLEXITY_API_KEY from {loaded.origins['perplexity_api_key']}, ends in …{shown}; not tried"
        )
    elif loaded.settings.documents:
        yield Finding("ok", "no PERPLEXITY_API_KEY: questions go to your documents")
    else:
        yield Finding("warn", "no provider: set PERPLEXITY_API_KEY, or name documents with --documents")


def _documents(settings: Settings) -> Iterable[Finding]:
    for path in settings.documents:
        yield Finding("ok", f"documents in {path}") if path.exists() else Finding("fail", f"no documents at {path}")


def _folder(loaded: LoadedSettings) -> Iterable[Finding]:
    folder = loaded.settings.logs_dir
    where = f"conversations in {folder} (from {loaded.origins['logs_dir']})"
    if not folder.exists():
        yield Finding("ok", f"{where}; made at the first question")
        return
    try:
        count = sum(1 for path in folder.iterdir() if (path / "conversation.json").is_file())
        mode = stat.S_IMODE(folder.stat().st_mode)
    except OSError as error:
        yield Finding("fail", f"{where}: {error.strerror}")
        return
    private = f"private ({mode:04o})"
    if mode != PRIVATE_MODE:
        private = f"others see the ids in it ({mode:04o}), each conversation is private"
    yield Finding("warn" if mode & WRITABLE_BY_OTHERS else "ok", f"{where}, {count} files, {private}")
    yield from _git(folder)


def _git(folder: Path) -> Iterable[Finding]:
    git = shutil.which("git")
    if git is None:
        return
    probe = folder / "20000101-0946684800000" / "conversation.json"
    answer = subprocess.run(
        [git, "-C", str(folder), "check-ignore", "-q", str(probe)], check=False, capture_output=True
    )
    if answer.returncode == 0:
        yield Finding("ok", "git ignores them")
    elif answer.returncode == 1:
        yield Finding("fail", f"git would commit them: put a .gitignore with * into {folder}")


async def _check_store(settings: Settings) -> Finding:
    """Write a conversation, change it and read it back, in a scratch folder on the same disk."""
    existing = next(path for path in (settings.logs_dir, *settings.logs_dir.parents) if path.is_dir())
    try:
        with tempfile.TemporaryDirectory(prefix=".conversation-mcp-doctor-", dir=existing) as scratch:
            store = build_store("files", settings.model_copy(update={"logs_dir": Path(scratch)}), utc_now)
            conversation_id = await store.reserve()
            now = created_at(conversation_id)
            await store.create(
                Conversation(
                    conversation_id=conversation_id, created_at=now, updated_at=now, message_count=0, messages=()
                )
            )
            lock = await store.acquire_turn(conversation_id, 0, _no_wait)
            await store.update(conversation_id, lambda stored, _: stored.changed(title="doctor"))
            await lock.release()
            intact = (await store.load(conversation_id)).title == "doctor"
    except (ConversationMCPError, OSError) as error:
        return Finding("fail", f"the store does not work in {existing}: {error}")
    return Finding("ok", "the store writes, locks and reads back") if intact else Finding("fail", "the store forgets")


async def _no_wait(_seconds: float) -> None:
    """Report a wait to nobody."""


async def _check_server(settings: Settings) -> Finding:
    """Start the server as a client does and list its tools."""
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 -- only the self-check needs the SDK

    documents = [part for path in settings.documents for part in ("--documents", str(path))]
    options = ["--logs-dir", str(settings.logs_dir), "--tools", ",".join(settings.tools), *documents]
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "conversation_mcp", "serve", *options], env=dict(os.environ)
    )
    started = time.perf_counter()
    try:
        with anyio.fail_after(SELF_CHECK_SECONDS):
            async with Client(command) as client:
                listed = await client.list_tools()
                seconds = time.perf_counter() - started
    except Exception as error:  # noqa: BLE001 -- whatever breaks is what the doctor is asked for
        return Finding("fail", f"the server does not answer: {error or type(error).__name__}")
    size = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())
    return Finding("ok", f"server answers: initialize, {len(listed.tools)} tools, {size:,} bytes, {seconds:.1f} s")


def _installation() -> str:
    """Return the absolute path that client configurations call."""
    script = Path(sys.executable).with_name("conversation-mcp")
    return shlex.join([str(script)] if script.exists() else [sys.executable, "-m", "conversation_mcp"])
