"""Conversations that last, on answer engines that forget."""

__version__ = "0.1.0"
