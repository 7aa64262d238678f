"""A reader combined with a model that writes the answer from its passages."""
