"""The kinds of documents, one module each: from the bytes or the text of a file to its outline."""
