"""The names in a folder of conversations, which is a store and a source to import from alike."""

import re

from conversation_mcp.records.ids import SHAPE

FILE_NAME = "conversation.json"
EXPORT_STEM = "export"
"""Begins the names of exports that stand beside the file."""
LOCKS = ".locks"
CALLS = ".calls"
MARKS = ".deleted"
TRASH = ".trash"
"""The folder of deleted conversations; each has the name of its id and the millisecond of its deletion."""
TRASHED = re.compile(rf"({SHAPE.pattern})\.([0-9]{{13}})")
