"""The settings: their fields, the tables of providers and models, and their loading from all sources."""

from conversation_mcp.settings.fields import Settings
from conversation_mcp.settings.loading import TABLES, LoadedSettings, load_settings
from conversation_mcp.settings.tables import NOTHING_SET, Kind, OwnModel, ProviderSettings

__all__ = [
    "NOTHING_SET",
    "TABLES",
    "Kind",
    "LoadedSettings",
    "OwnModel",
    "ProviderSettings",
    "Settings",
    "load_settings",
]
