"""The formats that conversations are taken out in, found by name in `catalog.py`.

A format is a function from a conversation to its text and knows no store.
"""
