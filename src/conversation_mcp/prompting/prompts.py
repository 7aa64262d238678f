"""The system prompts: data files of the package, each of which a file of the user's replaces."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from conversation_mcp.errors import InvalidInputError
from conversation_mcp.providers.base import Mode

PROMPT_FILES: Mapping[Mode, str] = {"search": "search.md", "deep_research": "deep_research.md", "chat": "chat.md"}


def load_prompts(folder: Path) -> Mapping[Mode, str]:
    """Return the system prompt of each mode; `folder` holds the user's own, by the same file names.

    Raises:
        InvalidInputError: a file of the user's exists and cannot be read.
    """
    return {mode: _own(folder / name) or _shipped(name) for mode, name in PROMPT_FILES.items()}


def _own(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").strip()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        message = f"the prompt {path} cannot be read: {error}."
        raise InvalidInputError(message) from None


def _shipped(name: str) -> str:
    return files("conversation_mcp.prompting").joinpath("prompts", name).read_text("utf-8").strip()
