"""What a model can call: one file for each tool, found by name in `catalog.py`. Tools do not know the SDK."""
