"""What all adapters with an address share: calls that are sent once, streams, errors, and the guard of the key.

Everything that a server sends counts as hostile: its size is limited, values of unexpected types count as absent, and
the key is removed wherever the server repeats it.
"""
