"""The tables of the vectors, of one or more models."""

from conversation_mcp.searching.database import Schema

VERSION = 1
# The token tells a file from the one that it replaced. Rows of codes are numbered without repetition, because readers
# go on from the last one that they know.
TABLES = """
    CREATE TABLE file (token TEXT NOT NULL);
    INSERT INTO file VALUES (hex(randomblob(16)));
    CREATE TABLE models (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, choice TEXT NOT NULL,
        is_whole INTEGER NOT NULL DEFAULT 0, deletions INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE groups (
        id INTEGER PRIMARY KEY, model INTEGER NOT NULL, name BLOB NOT NULL, state TEXT, UNIQUE (model, name)
    );
    CREATE TABLE codes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, grp INTEGER NOT NULL, item TEXT NOT NULL,
        digest BLOB NOT NULL, code BLOB NOT NULL
    );
    CREATE INDEX codes_of ON codes (grp);
    CREATE INDEX codes_by_digest ON codes (digest, model);
    CREATE TABLE vectors (id INTEGER PRIMARY KEY, scale REAL NOT NULL, numbers BLOB NOT NULL);
"""


def schema(kind: str) -> Schema:
    """Return the schema for things of a kind, which is part of the name of the folder."""
    return Schema(VERSION, TABLES, f"vectors\0{kind}")
