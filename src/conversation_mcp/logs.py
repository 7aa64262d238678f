"""Logging: to stderr only, because stdout carries JSON-RPC from its first byte."""

import logging
import re
import sys

KEY_PATTERN = re.compile(r"\b(pplx|sk|xai|gsk)-[A-Za-z0-9_\-]{6,}")


def redact(text: str) -> str:
    """Return the text with everything that looks like an API key replaced."""
    return KEY_PATTERN.sub(lambda key: f"{key.group(1)}-[redacted]", text)


class RedactingFormatter(logging.Formatter):
    """A formatter that redacts keys everywhere, even in tracebacks."""

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))


def configure_logging(level: str = "WARNING") -> None:
    """Send all log records to stderr. Call it before the SDK configures logging in its own way."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]  # in place of any that a library has added, which may write to stdout
    root.setLevel(level)
