"""The choice of the provider and model to ask.

`providers.py` leads a name through these steps:

Naming: `names.py` parses a typed name, `name_checks.py` checks the names in the settings.
Resolution: `resolution.py` finds the provider of the model, by the catalogue and the lists of servers (`listings.py`).
Permission: `restrictions.py` knows which models the user allows.
Choice: the result is a `Choice` (`choice.py`). Without a name it is the provider that the conversation stays with, or
the default, or the best model (`auto.py`) in the order of `ranking.py`.
Fallback: the models of the user's own list, if the chosen one did not accept the question. There is no other fallback.

`offer.py` lists the names that can be asked, and `writer/` has a model write from passages. Outside this package,
`sides.py` knows whether a provider is on this machine, and `whereabouts.py` which providers have the words.
"""
