"""Vectors of texts in an SQLite file beside the index, from which the nearest to a question are found.

They are derived and disposable: a file that is missing, damaged or of another version is made anew, and a search
without it finds nothing, which is never an error. Nothing here knows where the texts come from, or the model.

To find things of a new kind by their meaning:

1. Write a `TextSource` (`pieces.py`). It names groups, such as files or conversations, each with a state that changes
   with its content, and returns the pieces of a group: an item that names a piece in its group, and its texts.
2. Open `VectorIndex(IndexFile(owners, folder, schema(kind)))` (`index.py`) with a kind of its own: "memories".
3. Have `Builder` (`builder.py`) bring it up to date in the background. It can be stopped and killed at any time, and
   does nothing while another process does the same.
4. Ask `nearest`. A hit is a group, an item and a digest: look the text up where it is kept and compare
   `digest_of(piece)`, because the vector may be that of an older text. `nearest` with few groups looks at these alone.
5. Call `forget` with the groups that are deleted for good. It leaves no bytes of their vectors.

`base.py` is the port of what keeps vectors: a store whose database compares vectors itself has tables of its own for
them in place of the file.

A few groups can also be taken in at once (`Builder.take_in`), such as a memory that is to be found from now on.
"""
