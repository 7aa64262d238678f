"""The engine that answers from the user's files, which it finds, reads, indexes and ranks.

It knows nothing of providers and conversations; `providers/local` is a thin adapter to it.
"""
