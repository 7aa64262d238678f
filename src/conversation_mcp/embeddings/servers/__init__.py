"""Embedders that ask a server: at `/v1/embeddings`, or at `/api/embed`."""
