"""The checks of `doctor` and `verify`; each yields findings."""
