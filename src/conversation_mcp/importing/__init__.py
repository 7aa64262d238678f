"""Brings conversations of other programs in: recognizes sources, reads them, and merges what is known already.

`importer.py` alone knows the store.
"""
