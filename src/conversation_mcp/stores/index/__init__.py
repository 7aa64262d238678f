"""The tables that find conversations: an SQLite full-text database derived from them, in a file or in memory.

They know no records, and no place: `conversations.py` says what they need of the conversations that they are derived
from. Each row has a stamp of its conversation, and a row whose conversation has changed is read again before it is
shown. `searching/stamped.py` keeps them in step.
"""
