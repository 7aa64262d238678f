"""The tools, one module each, and the catalog of the sets that switch them on.

A tool is a value: its description for models, its arguments, what it does and how its result reads. It asks the turn
engine or the stores through the app, and knows neither the SDK nor the transport.
"""
