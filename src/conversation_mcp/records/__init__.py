"""What a conversation is: its fields, its file, and the facts that follow from it. All of it is pure."""
