"""The adapter for servers that speak chat completions. They differ in details, which it learns from their refusals."""
