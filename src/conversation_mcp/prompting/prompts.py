"""The system prompts: data files of the package, each of which the user can replace with a file."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from conversation_mcp.disk.faults import reason_of
from conversation_mcp.disk.files import read_linked_file
from conversation_mcp.errors import InvalidInputError
from conversation_mcp.records.modes import Mode

SUMMARY_FILE, DECISIONS_FILE = "summary.md", "decisions.md"
PROMPT_FILES: Mapping[Mode, str] = {"search": "search.md", "deep_research": "deep_research.md", "chat": "chat.md"}


def load_prompts(folder: Path) -> Mapping[Mode, str]:
    """Return the system prompt of each mode; `folder` holds the user's own, under the same file names.

    Raises:
        InvalidInputError: a file of the user exists but cannot be read.
    """
    return {mode: _prompt(folder, name) for mode, name in PROMPT_FILES.items()}


def load_summary_prompt(folder: Path) -> str:
    """Return the system prompt of a summary; raises as `load_prompts`."""
    return _prompt(folder, SUMMARY_FILE)


def load_decisions_prompt(folder: Path) -> str:
    """Return the system prompt of a search for decisions; raises as `load_prompts`."""
    return _prompt(folder, DECISIONS_FILE)


def _prompt(folder: Path, name: str) -> str:
    return _own(folder / name) or _shipped(name)


def _own(path: Path) -> str:
    try:
        return read_linked_file(path).decode("utf-8-sig").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise InvalidInputError(f"the prompt {path} cannot be read: {reason_of(error)}.") from None
    except UnicodeDecodeError:
        raise InvalidInputError(f"the prompt {path} is not UTF-8.") from None


def _shipped(name: str) -> str:
    return files("conversation_mcp.prompting").joinpath("prompts", name).read_text("utf-8").strip()


def consensus_texts() -> dict[str, str]:
    """Return what the models of a consensus are told, by stance."""
    stances = {stance: _shipped(f"stance_{stance}.md") for stance in ("for", "against", "neutral")}
    return {**stances, "synthesis": _shipped("synthesis.md")}
