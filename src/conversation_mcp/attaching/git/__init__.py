"""The change of a repository as files of a question, read with `git`, which runs nothing that the repository names."""
