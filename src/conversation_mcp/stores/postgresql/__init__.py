"""The store in PostgreSQL, for several machines. Nothing outside this package knows its tables.

- A conversation is a row of facts with all its fields but the messages, as JSON text; each message is a row of its own.
  `records/parts.py` joins them to the bytes that a file would have, so an export is the same from every store.
- What was loaded last stays in memory with its version. An update applies the change to it and sends the rows that
  differ to a function of the database, which writes them if that is still the version and else nothing: an answer is
  one journey and one transaction, whatever came before it. Else the update locks the row, reads it, and does the same.
- A connection that breaks after such a statement was sent leaves in doubt whether it was done; the rows tell.
- Locks are leases (`leases.py`): rows that their holder renews and that lapse when it dies. Each holder has a higher
  fence, and an update by a process that held the turn names its fence, so a holder that lost it writes nothing.
- Every statement is part of a transaction that names the owner, and nothing outlives it, so a transaction pooler may
  stand between. Row-level security refuses other owners' rows even if a statement forgot to.
- Words are cut as SQLite's index cuts them and ranked by its formula (`ranking.py`).
- Where there is the extension vector, vectors of turns and memories are rows (`vectors.py`), made by the builder that
  files have, too. What they are made of is locked while they are written, and they go with it.
- `migrations/` has numbered SQL files that only go forward (`schema.py`). One that earlier programs can live with says
  so in its first line, so that servers can be replaced one after the other.
"""
