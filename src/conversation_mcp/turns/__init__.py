"""The turn engine: it asks a question, joins the same call, waits, settles what dead servers left, and stops.

`engine.py` takes a question and begins a task of the server, not of the request (`roster.py`). `claims.py` takes the
name of the call and looks for an earlier one (`earlier_calls.py`). `worker.py` works under the turn lock, `sender.py`
asks the provider, `receiver.py` follows the answer. `changes.py` has the changes of the file as pure functions.
"""
