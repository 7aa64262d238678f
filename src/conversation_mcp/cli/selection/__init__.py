"""The selection of conversations: ids, words, moments, filters and pages, and their completion in the shell."""
