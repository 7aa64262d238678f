"""Addresses that can only mean this machine."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(address: str) -> bool:
    """Tell whether a web address can only mean this machine. A name that needs a name server does not count."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError:
        return False
    if host.removesuffix(".") == "localhost":
        return True
    try:
        found = ip_address(host)
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_loopback or found.is_unspecified  # a connection to 0.0.0.0 reaches this machine
