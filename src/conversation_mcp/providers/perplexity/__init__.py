"""The dialect of Responses that the Agent API of Perplexity speaks."""
