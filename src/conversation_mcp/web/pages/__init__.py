"""What the templates show, as functions of records. Nothing here reads a request or a file."""
