"""The entry point: serves at once when nothing else is asked for, because clients wait for it to start."""

import sys


def main() -> None:
    """Run the command line."""
    from conversation_mcp.cli.entry import run

    sys.exit(run())


if __name__ == "__main__":
    main()
