"""The library of conversations: histories, lists, branches, merges, labels, the trash, pruning, statistics, Markdown.

Pure functions from records to records or text, and small services over the ports of the store.
"""
