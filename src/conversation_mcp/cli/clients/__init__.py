"""The MCP clients that `doctor` can set up, and the edits of their configuration files."""
