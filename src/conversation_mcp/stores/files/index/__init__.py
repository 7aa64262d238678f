"""The index of conversations: an SQLite full-text database in the user's cache folder, derived and disposable.

It knows no records: `records/facts.py` says what it takes from a file. Each row has a stamp of its file, and a row
whose file has changed is read again before it is shown. `searching/stamped.py` keeps it in step.
"""
