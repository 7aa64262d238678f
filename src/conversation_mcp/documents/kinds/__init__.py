"""The kinds of documents, one module each, which turn the bytes or text of a file into an outline."""
