"""The adapter that answers with passages from the files of the user, without a network."""
