"""The adapter for Anthropic's Messages API: one answer on one stream, which cannot be looked up again.

Nothing of an answer beside its text is needed for the next question: thinking and results of searches have to be sent
back only while an answer is paused, so they are kept in memory and never in a file.
"""
