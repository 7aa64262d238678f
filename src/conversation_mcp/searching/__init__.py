"""What is shared by everything that is searched: words and stems, snippets, and databases derived from stamped things.

It knows neither conversations nor documents.
"""
