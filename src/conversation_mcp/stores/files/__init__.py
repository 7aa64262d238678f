"""The store of files. Nothing outside this package opens a folder of conversations, a lock or the index's database.

- A conversation is `<root>/<id>/conversation.json`. Each write starts from the file as it is, under the write lock
  (`folder.py`). The turn lock (`turn_locks.py`) is held while a question is answered. Reading takes neither.
- `<id>/files/<sha256>` is a content that questions name (`contents.py`). One that does not have its hash counts as
  missing. `<id>/.unwritten` stands beside contents that came before their conversation, until that is written; without
  it, a sweep leaves contents alone, because somebody may have moved `conversation.json` away to mend it.
- `.calls` has a file for each undelivered call, named by the hash of the call (`calls.py`). It is written before the
  question and holds the conversation and the question's future `startedAt`, so the question is found by that time or
  is known never to have been asked. Take first, look second: whoever works on a call holds a lock of its name, and
  only the holder may believe that a call without an answer is dead. Delivery removes the file; after a day it is
  forgotten. The file of a failed start stays, marked as told, so that the same call finds its conversation. A wish to
  stop is a file `<id>.stop` that names the turn by the same two facts, so it never stops a later one.
- A deleted conversation is the folder `.trash/<id>.<millisecond of the deletion>` (`trash.py`): one rename under both
  locks takes it there, one takes it back, so a crash leaves it here or there. Deleting for good begins with the
  index, so that an interrupted deletion leaves a conversation that can still be seen and deleted again.
- A short list reads the files (`scan.py`, `newest.py`); everything else comes from the index. `keeper.py` compares
  the index with the folder in the background of a server.
"""
