"""The engine that answers from the user's files: it finds, reads, indexes and ranks them.

It knows no provider and no conversation; `providers/local` is a thin adapter of it. `walk.py` finds the files,
`reader.py` brings each format into lines that know what they are (`kinds/`), `passages.py` cuts them. `readings.py`
and `rows.py` keep the index in step (`searching/stamped.py`). Full-text search proposes passages, `ranking.py` looks
closer at the best, and `selection.py` chooses among them. If a file changes before it is quoted, `library.py` begins
again.
"""
