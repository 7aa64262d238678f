"""Texts as vectors that are near each other if the texts mean something similar.

`base.py` is the port. Adapters are found by name (`catalog.py`): the bundled model, which numpy runs (`bundled/`),
and servers (`servers/`). `meaning.py` searches an index of vectors with the embedder that serves.
"""
