"""A bare server on the same SDK: three tools that do next to nothing, and no more than it takes to serve them."""

from mcp.server.mcpserver import MCPServer


def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


def repeat(text: str) -> str:
    """Return the text."""
    return text


def count(text: str) -> int:
    """Count the characters of the text."""
    return len(text)


def main() -> None:
    """Serve over stdio until the input ends."""
    server = MCPServer("bare")
    for tool in (add, repeat, count):
        server.add_tool(tool)
    server.run("stdio")


if __name__ == "__main__":
    main()
