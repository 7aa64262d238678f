"""The options of a server over HTTP, and what follows from its address."""

from typing import NamedTuple

from mcp.server.transport_security import TransportSecuritySettings

from conversation_mcp.errors import InvalidInputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 -- compared with, to refuse it


class HttpOptions(NamedTuple):
    """How a server over HTTP is reached; the defaults are for clients on the same machine."""

    host: str = "127.0.0.1"
    port: int = 8765
    path: str = "/mcp"
    allowed_hosts: tuple[str, ...] = ()
    """Names under which clients know the server, beside its address."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of web pages that may call it."""
    workers: int = 1
    view: bool = False
    """Whether browsers get the pages of the viewer."""
    metrics_port: int | None = None
    """The port of the figures; each further worker has the next one."""

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return self.host in LOOPBACK

    def address(self, port: int) -> str:
        """Return the URL of the server on the port that it has got."""
        return f"http://{_bracketed(self.host)}:{port}{self.path}"


def check_options(options: HttpOptions, *, has_tokens: bool) -> None:
    """Refuse options with which the server would be open to others, or reachable by nobody.

    Raises:
        InvalidInputError: other machines could reach it without a token, or it would refuse every request.
    """
    if not (options.is_local and not options.allowed_hosts) and not has_tokens:
        given = f"--allowed-host {options.allowed_hosts[0]}" if options.is_local else f"--host {options.host}"
        raise InvalidInputError(
            f"with {given} the server can be reached from other machines, and there are no tokens, so anybody there "
            "could read and ask everything. Make a token first: conversation-mcp token add NAME."
        )
    if options.host in ANY_ADDRESS and not options.allowed_hosts:
        raise InvalidInputError(
            f"with --host {options.host!r} every request would be refused, because its Host is checked: add the name "
            "by which clients reach the server, as in --allowed-host mcp.example.com."
        )
    if not options.path.startswith("/") or options.path in ("/health", "/ready"):
        raise InvalidInputError(f"--path must begin with / and be neither /health nor /ready; got {options.path!r}.")


def security_of(options: HttpOptions) -> TransportSecuritySettings:
    """Return which hosts and origins are accepted: what was named, and on this machine its own names."""
    own = LOOPBACK if options.is_local else (() if options.host in ANY_ADDRESS else (options.host,))
    hosts = (*map(_bracketed, own), *options.allowed_hosts)
    return TransportSecuritySettings(
        allowed_hosts=[form for host in hosts for form in (host, f"{host}:*")],
        allowed_origins=[
            *(form for host in map(_bracketed, own) for form in (f"http://{host}", f"http://{host}:*")),
            *options.allowed_origins,
        ],
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
