"""The data of a conversation: its records, its file, and facts derived from it. Nothing here does input or output."""
