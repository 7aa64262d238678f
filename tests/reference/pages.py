"""The files that come from the code, whole or by their version, by the path they have in the project."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from tests.reference.commands_page import commands_page
from tests.reference.file_schema import file_schema_page
from tests.reference.settings_page import settings_page
from tests.reference.tools_page import tools_page
from tests.reference.versions import VERSIONED
from tests.reference.workflows_page import workflows_page

ROOT = Path(__file__).parents[2]

PAGES: Mapping[str, Callable[[], str]] = {
    "docs/tools.md": cache(tools_page),
    "docs/cli.md": cache(commands_page),
    "docs/settings.md": cache(settings_page),
    "docs/workflows.md": cache(workflows_page),
    "docs/conversation.schema.json": cache(file_schema_page),
    **VERSIONED,
}
