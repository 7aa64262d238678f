"""A question from the command line: how it is put together, asked, watched and interrupted."""
