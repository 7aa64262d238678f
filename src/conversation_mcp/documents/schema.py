"""The tables of the index of documents: files, passages, and words."""

from conversation_mcp.searching.database import Schema
from conversation_mcp.text import FTS_TOKENIZER

VERSION = 2
TABLES = f"""
    CREATE TABLE files (
        id INTEGER PRIMARY KEY AUTOINCREMENT, path BLOB NOT NULL UNIQUE, shown TEXT NOT NULL, stamp INTEGER NOT NULL,
        digest BLOB, modified INTEGER NOT NULL, title TEXT, unit TEXT, problem TEXT
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY, file INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        headings TEXT NOT NULL, text TEXT NOT NULL
    );
    CREATE INDEX passages_of ON passages (file);
    CREATE VIRTUAL TABLE words USING fts5(title, heading, body, content='', tokenize="{FTS_TOKENIZER}");
    CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, col);
"""


def schema(kind: str) -> Schema:
    """Return the schema for a set of documents and installed converters, each of which has an index of its own."""
    return Schema(VERSION, TABLES, kind)
