"""What all providers with an address share: one way to send a call once, read a stream, and judge what went wrong."""
