"""The store on a Redis or Valkey server, for conversations that are forgotten. Nothing else knows its keys.

- A conversation is a hash: its file under `body`, contents under `file:` and exports under `export:`. The server
  removes it when its time is over, with all that is in it; each write begins that time anew.
- Beside it are sorted sets of ids by version and by the end of their time, and the trash, the calls and the buckets of
  the owner (`keyspace.py`).
- A change is applied to what was read and written by a script if that is still the stored version, else it is applied
  again. `scripts/` has a file for each thing that is done at once.
- Locks are leases whose time is the server's (`leases.py`): a write by a process that held the turn names its fence, so
  a holder that lost it writes nothing.
- Lists and searches ask the tables of `stores/index` in the memory of this process (`index.py`), which are brought up
  to date before they are asked.
"""
