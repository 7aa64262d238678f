"""The names in a folder of conversations, which is a store and also a source to import from."""

import re

from conversation_mcp.records.ids import SHAPE

FILE_NAME = "conversation.json"
FILES = "files"
"""The folder of the contents that questions of the conversation name, beside its file, each under its hash."""
FILE_CONTENTS = "fileContents"
"""The field of an exported conversation with these contents, by hash. The file itself never has it."""
UNWRITTEN = ".unwritten"
"""Stands beside contents that were put before their conversation was written, and tells that it never was."""
EXPORT_STEM = "export"
"""Begins the names of exports kept beside the file."""
LOCKS = ".locks"
CALLS = ".calls"
MARKS = ".deleted"
TRASH = ".trash"
"""The folder of deleted conversations, each named after its id and the millisecond of its deletion."""
TRASHED = re.compile(rf"({SHAPE.pattern})\.([0-9]{{13}})")
