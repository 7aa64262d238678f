"""The viewer: the conversations as pages in a browser.

`site` lists the addresses; behind them `lists`, `reading`, `changes`, `questions` and `figures` answer requests with
pages, which `pages/` makes of records. `gate` lets in only who has the token. `window` serves it all on this machine.
"""
