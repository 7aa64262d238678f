"""Results of tools as text; the same facts go to clients as data in `structuredContent`."""
