"""Which conversations are meant: by ids, words, moments and filters, and how the shell completes them."""
