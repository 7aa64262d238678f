"""The turn engine: asks a question, waits for its answer, joins repetitions of the call, and settles what died.

A question is on disk before it is sent, and its answer before the caller has it. `engine.py` takes a question and
starts a task of the process, not of the request (`roster.py`). `claims.py` takes the name of the call and looks for
an earlier one (`earlier_calls.py`). `worker.py` works under the turn lock, `sender.py` asks the provider,
`receiver.py` follows the answer. `changes.py` has the changes of the file as pure functions; `turn.py` shows the
parts of a running turn.
"""
