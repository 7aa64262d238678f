"""The settings as `config` and `doctor` show them, and as `config --write` writes them to a file."""
