"""Addresses that can only mean this machine."""

from ipaddress import ip_address
from urllib.parse import urlsplit


def is_loopback(address: str) -> bool:
    """Tell whether a web address can only mean this machine; one that needs a look at a name server cannot."""
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
    return found.is_loopback or found.is_unspecified
