"""Import of conversations from other programs: formats are recognized, read, and merged with earlier imports.

Only `importer.py` knows the store.
"""
