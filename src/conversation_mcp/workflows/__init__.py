"""Workflows: what a definition file can say, the reader of such files, and the engine that checks an agent's steps.

Nothing here asks a model, and nothing but the reader touches the disk.
"""
