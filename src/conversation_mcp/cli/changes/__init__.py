"""What the commands share that change conversations."""
