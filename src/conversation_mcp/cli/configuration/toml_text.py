"""Values as TOML."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import cast

BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """Return the name as a TOML key, quoted if necessary."""
    return name if BARE.fullmatch(name) else toml_value(name)


def toml_value(value: object) -> str:
    """Return a string, number, boolean, list or mapping as TOML; any other value as the string of its `str()`."""
    if isinstance(value, bool | int | float):
        return str(value).lower()  # Python's True is TOML's true
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, cast('Iterable[object]', value)))}]"
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, object]", value).items()
        return f"{{ {', '.join(f'{toml_key(name)} = {toml_value(inner)}' for name, inner in pairs)} }}"
    # JSON strings are valid TOML strings, except that TOML wants DEL escaped, too.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_table(name: str, entry: Mapping[str, object]) -> str:
    """Return a table, followed by its inner tables."""
    lines = [f"[{name}]"]
    tables: list[str] = []
    for key, value in entry.items():
        if isinstance(value, Mapping):
            tables.append(toml_table(f"{name}.{toml_key(key)}", cast("Mapping[str, object]", value)))
        else:
            lines.append(f"{toml_key(key)} = {toml_value(value)}")
    return "\n".join(lines) + "\n" + "".join(f"\n{table}" for table in tables)
