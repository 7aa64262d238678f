"""MCP over streamable HTTP, for many owners at once.

A request passes `connections.py`, which bounds how long it may take to come and to be read, `strictness.py`, which
refuses what a proxy could read differently, and `front.py`, which checks host, origin and caller. The caller's owner
alone chooses the home (`homes.py`): a server over the conversations of that owner. `lanes.py` has the requests of one
owner take turns, `answers.py` bounds what answers hold until they are read, and `receipts.py` learns when one has
arrived. `serving.py` is a process from its socket to its end, `workers.py` several of them on one port.
"""
