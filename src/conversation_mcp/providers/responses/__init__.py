"""The adapter for servers that speak the Responses API, on a stream or with background runs."""
