"""The checks of the place of the conversations and of the cache."""

from collections.abc import Iterable
from pathlib import Path

from conversation_mcp.cli.setup import finder_of
from conversation_mcp.clock import utc_now
from conversation_mcp.records.findings import Finding
from conversation_mcp.settings import LoadedSettings, Settings
from conversation_mcp.stores.catalog import open_store
from conversation_mcp.text import counted


def check_place(loaded: LoadedSettings) -> Iterable[Finding]:
    """Check the place of the conversations without reading them."""
    finder = finder_of(loaded.settings)
    origin = loaded.origins["store" if loaded.settings.store else "logs_dir"]
    return finder.inspector.check_place(f"conversations in {finder.place} (from {origin})")


async def check_store(settings: Settings) -> Finding:
    """Try to use the store that the settings name."""
    return await open_store(settings.store_url, utc_now).try_out()


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
