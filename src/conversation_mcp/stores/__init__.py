"""Where conversations live, behind two ports.

`Store` (`base.py`) changes conversations one at a time, with the contents that their questions name
(`attachments.py`), their trash and their register of calls; it is async.
`Finder` (`finder.py`) finds and reads many, and blocks: the command line asks it directly, the server in a thread. It
can be opened without the rest of the store. `catalog.py` finds both by the scheme of a URL.
"""
