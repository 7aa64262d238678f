"""The engine that answers from the user's files: finds, reads, indexes and ranks them.

It knows no provider and no conversation; `providers/local` is a thin adapter of it.
"""
