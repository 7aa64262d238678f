"""The tables of the index of conversations."""

from conversation_mcp.searching.database import Schema
from conversation_mcp.searching.words import TOKENIZER

SCHEMA = Schema(
    7,
    f"""
    CREATE TABLE conversations (
        key INTEGER PRIMARY KEY, id TEXT NOT NULL, stamp INTEGER NOT NULL,
        updated INTEGER, archived INTEGER, pending TEXT, facts TEXT, problem TEXT
    );
    CREATE UNIQUE INDEX ids ON conversations (id);
    CREATE INDEX stamps ON conversations (id, stamp);
    CREATE INDEX newest ON conversations (archived, updated DESC, id DESC);
    CREATE INDEX unreadable ON conversations (id) WHERE problem IS NOT NULL;
    CREATE TABLE facets (kind TEXT, value TEXT, key INTEGER, PRIMARY KEY (kind, value, key)) WITHOUT ROWID;
    CREATE INDEX facets_of ON facets (key);
    CREATE VIRTUAL TABLE messages USING fts5(text, tokenize="{TOKENIZER}");
    CREATE TABLE memories (
        row INTEGER PRIMARY KEY, id TEXT NOT NULL, same TEXT NOT NULL, created INTEGER NOT NULL, embedding TEXT,
        facts TEXT NOT NULL
    );
    CREATE INDEX memory_ids ON memories (id);
    CREATE INDEX memory_texts ON memories (same, embedding);
    CREATE INDEX newest_memories ON memories (created DESC, row DESC);
    CREATE TABLE memory_tags (value TEXT, row INTEGER, PRIMARY KEY (value, row)) WITHOUT ROWID;
    CREATE INDEX memory_tags_of ON memory_tags (row);
    CREATE VIRTUAL TABLE memory_words USING fts5(text, tokenize="{TOKENIZER}");
    CREATE TABLE comparisons (conversations INTEGER NOT NULL, finished TEXT NOT NULL);
    """,
)
