"""The index of a folder of conversations: the tables of `stores/index` in a file in the user's cache folder."""
