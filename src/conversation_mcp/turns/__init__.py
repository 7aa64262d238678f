"""The turn engine: asks a question, waits for its answer, joins repetitions of the call, and settles what died.

A question is on disk before it is sent, and its answer before the caller has it. A turn belongs to the process, not to
the request that began it. `engine.py` is the entry; `turn.py` shows the parts of a running turn.
"""
