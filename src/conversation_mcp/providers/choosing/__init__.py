"""Who is asked. A name takes this path, and `providers.py` leads it along.

Named: `names.py` reads what was typed, `name_checks.py` what stands in the settings.
Resolved: `resolution.py` finds who has the model, by the catalogue and by what servers list (`listings.py`).
Allowed: `restrictions.py` knows which models the user lets be asked.
Chosen: what comes out is a `Choice` (`choice.py`). Without a name it is whom the conversation stays with, or the
default, or what `auto.py` takes by the order of `ranking.py`.
Fallback: the user's own list, once the chosen one did not take the question. Nobody else stands in.

`offer.py` lists what can be named. Beside this package, `sides.py` knows whether a provider is on this machine, and
`whereabouts.py` who has the words.
"""
