"""The command line: it reads what was typed, does it with the packages below, and prints the result.

`main.py` lists the commands and imports the one that is called. `entry.py` runs it and turns errors into exit codes.
`quick.py` reads the two calls that must not pay for the parser: `serve`, because clients wait for it, and a plain
`list`, because people type it all the time. Anything it does not understand goes to the parser. Commands that only
look ask a finder (`setup.py`); commands that change something open the program (`changes/session.py`).
"""
