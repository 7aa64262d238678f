"""Full-text search for conversations and documents alike: words and stems, snippets, and the stamped index.

It knows nothing of either.
"""
