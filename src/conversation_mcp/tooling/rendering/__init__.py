"""How results read: from records to the text of `content`."""
