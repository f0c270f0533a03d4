"""Which addresses may be reached: a name is resolved, and all its addresses are checked.

Callers connect to the addresses returned here and do not resolve the name again, so that a name cannot
change to another address after the check (DNS rebinding).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

from .errors import NotAllowedError, ToolError, TransientError

Address: TypeAlias = IPv4Address | IPv6Address
Resolver: TypeAlias = Callable[[str, int], Sequence[str]]
Allowed: TypeAlias = bool | tuple[str, ...]

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052
_COMPATIBLE = IPv6Network("::/96")  # RFC 4291, section 2.5.5.1
# Public for `ipaddress`, but services of a cloud's host answer there: Oracle (RFC 6890), Azure.
_CLOUD = (IPv4Network("192.0.0.0/24"), IPv4Network("168.63.129.16/32"))


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as the system knows them.

    Raises:
        ToolError: there is no such host; TransientError if that may be otherwise the next time.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        kind = TransientError if error.errno == socket.EAI_AGAIN else ToolError
        raise kind(f"no address for {host}: {error.strerror}") from error
    except UnicodeError as error:  # from the encoding of names, a label of more than 63 letters for one
        raise ToolError(f"{host} cannot be the name of a host: {error}") from error
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def check_host(
    host: str, port: int, allowed: Allowed = False, resolver: Resolver = resolve
) -> tuple[str, ...]:
    """The addresses of a host, all of them checked.

    Args:
        host: a name or an address, as it stands in a URL.
        port: handed to the resolver.
        allowed: what is allowed besides public addresses, see `refusal`.
        resolver: gives the addresses of a name; it is not asked about an address.

    Raises:
        NotAllowedError: at least one of them is not public, and not allowed.
        ToolError: the host has no address.
    """
    try:
        addresses = [ip_address(host)]
    except ValueError:
        addresses = [ip_address(address) for address in resolver(host, port)]
    if not addresses:
        raise ToolError(f"no address for {host}")
    for address in addresses:
        if reason := refusal(host, address, allowed):
            raise NotAllowedError(reason)
    return tuple(str(address) for address in addresses)


def refusal(host: str, address: Address, allowed: Allowed) -> str:
    """Why an address must not be reached, or ''.

    allowed: True allows private and loopback addresses; link-local ones (where clouds keep credentials),
    multicast and reserved ones are allowed only by a tuple of host names, addresses and networks.
    """
    kind = kind_of(address)
    if not kind:
        return ""
    if isinstance(allowed, bool):
        fine = allowed and kind in ("private", "loopback")
    else:
        fine = _listed(host, address, allowed)
    if fine:
        return ""
    return f"{host} has the {kind} address {address}, which is not allowed"


def kind_of(address: Address) -> str:
    """'' for a public address, else what it is: loopback, private, link-local, multicast, reserved, ..."""
    address = _inner(address)
    if address.is_unspecified:
        return "unspecified"
    for kind, applies in (
        ("loopback", address.is_loopback),
        ("link-local", address.is_link_local),
        ("multicast", address.is_multicast),
        ("reserved", address.is_reserved or any(address in network for network in _CLOUD)),
        ("private", not address.is_global or getattr(address, "is_site_local", False)),
    ):
        if applies:
            return kind
    return ""


def normal(host: str) -> str:
    """A host's name in the form in which names are compared."""
    return host.lower().rstrip(".")


def is_network(entry: str) -> bool:
    """Whether an allowed entry is an address or a network, not a name."""
    try:
        ip_network(entry, strict=False)
    except ValueError:
        return False
    return True


def _listed(host: str, address: Address, allowed: tuple[str, ...]) -> bool:
    if normal(host) in allowed:
        return True
    networks = [ip_network(entry, strict=False) for entry in allowed if is_network(entry)]
    return any(form in network for network in networks for form in (address, _inner(address)))


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address leads to (mapped, compatible, 6to4 or NAT64), else itself."""
    if isinstance(address, IPv4Address):
        return address
    if inner := address.ipv4_mapped or address.sixtofour:
        return inner
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address
