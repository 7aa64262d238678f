"""A reader together with the model that writes an answer from its quotes."""
