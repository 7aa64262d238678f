"""The family of chat completions: its body, the habits of its servers, and its stream."""
