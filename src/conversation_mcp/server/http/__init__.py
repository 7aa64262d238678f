"""MCP over streamable HTTP, for many owners at once.

A request passes `connections.py`, which bounds how long it may take to come and to be read, and `front.py`, which
checks host, origin and caller. The caller's owner alone chooses the home (`homes.py`): a server over the conversations
of that owner. `receipts.py` learns when an answer has arrived. `serving.py` is a process from its socket to its end,
`workers.py` several of them on one port.
"""
