"""Prints how many o200k tokens the input has; run by the interpreter that the peers are installed for."""

import sys
from pkgutil import resolve_name
from typing import Any


def main() -> None:
    """Count the tokens of the whole input."""
    get_encoding: Any = resolve_name("bpe_openai:get_encoding")
    print(len(get_encoding("o200k_base").encode(sys.stdin.read())))


if __name__ == "__main__":
    main()
