"""Answer engines behind one port (`base.py`).

`definitions.toml` and the user's file describe the providers, `configuration.py` says which are configured, and
`catalog.py` builds each from the family or dialect that its definition names. Everything with an address stands on
`wire/`. No other code knows a provider by name: it asks the definition, or whether the provider is a `Reader`.
`choosing/` decides who is asked. `sides.py` says whether a provider is on this machine.
"""
