"""The formats of other programs, found by name in `importing/catalog.py`; modules of one format share a prefix."""
