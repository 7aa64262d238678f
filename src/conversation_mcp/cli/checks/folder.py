"""The checks of the place of the conversations and of the cache."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from conversation_mcp.cli.setup import finder_of
from conversation_mcp.clock import utc_now
from conversation_mcp.errors import ConversationMCPError
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import LoadedSettings, Settings
from conversation_mcp.stores.catalog import lifetime_in, open_store
from conversation_mcp.stores.headway import Headway
from conversation_mcp.text import counted


def check_place(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check the place of the conversations without reading them."""
    finder = finder_of(loaded.settings)
    origin = loaded.origins["store" if loaded.settings.store else "logs_dir"]
    yield from finder.inspector.check_place(f"conversations in {finder.place} (from {origin})")
    lifetime = lifetime_in(loaded.settings.store_url, loaded.settings.conversation_timeout_hours)
    if lifetime is not None:
        yield Finding("ok", f"each is forgotten {lifetime / timedelta(hours=1):g} h after it was written last")


async def check_store(settings: Settings) -> Finding:
    """Try to use the store that the settings name."""
    return await open_store(settings.store_url, utc_now, settings.owner, encryption=settings.encryption).try_out()


def check_encryption(settings: Settings) -> Iterable[Finding]:
    """Report the key that encrypts conversations, if one is set, and how long the index in memory takes."""
    if settings.encryption is None:
        return
    try:
        finder = finder_of(settings)
        key_id = settings.encryption.masters[0].key_id
        if (index := finder.index) is None:
            return
        finder.refresh(Headway())
        count = counted(index.standing().conversation_count, "conversation")
    except ConversationMCPError as error:
        yield Finding("fail", error.sentence())
        return
    built = f"the index of {count} was built in {index.build_seconds or 0:.1f} s and is in memory only"
    yield Finding("ok", f"conversations are encrypted with the key {key_id}; {built}")


def check_cache(folder: Path) -> Iterable[Finding]:
    """Report the cached files, if there are any; they can be deleted at any time."""
    try:
        sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    except OSError as error:
        yield Finding("warn", f"the cache in {folder} cannot be read: {error.strerror}")
        return
    if sizes:
        amount = f"{counted(len(sizes), 'file')}, {sum(sizes) / 1_000_000:,.1f} MB"
        yield Finding("ok", f"cache in {folder}, {amount}; rebuilt if you delete it")
