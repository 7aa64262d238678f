"""The formats in which conversations are exported, found by name in `catalog.py`.

A format is a function from a conversation to its text, and knows nothing of stores.
"""
