"""Perplexity's dialect of the Responses family: another path, presets in place of models, filters of its own."""
