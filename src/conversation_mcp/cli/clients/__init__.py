"""The MCP clients that can be set up from here, and how their files are changed."""
