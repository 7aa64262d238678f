"""The port of providers, their definitions as data, and the adapters that ask them.

`base.py` is the port; `definitions.toml` lists the shipped providers. An adapter belongs to a family (`responses`,
`chat_completions`) or a dialect (`perplexity`) on top of `wire/`, or reads files (`local`). `choosing/` decides who is
asked, and `sides.py` whether words stay on this machine.
"""
