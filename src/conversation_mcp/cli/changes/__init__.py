"""What the commands that change conversations share: the open program, and how they say what was done."""
