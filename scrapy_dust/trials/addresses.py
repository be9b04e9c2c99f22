"""Keeps validation away from addresses of this machine and of the networks behind it.

If the site itself is there, validation reaches it only at the host and port where the crawl did.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

from scrapy.utils.asyncio import run_in_thread

#: A scheme, a host and a port.
Netloc = tuple[str, str, int]


class Addresses:
    """The addresses at which the hosts of the crawl (*known*) are reached."""

    def __init__(self, known: Iterable[Netloc]) -> None:
        self._known = {(host, port) for _, host, port in known}
        self._resolved: dict[str, tuple[str, ...]] = {}
        self._own: set[tuple[str, int]] | None = None

    def is_known(self, host: str, port: int) -> bool:
        """Whether the crawl has fetched from *host* at *port*."""
        return (host, port) in self._known

    def is_own(self, host: str, address: str, port: int) -> bool:
        """Whether *address* belongs to a host that the crawl fetched from, as far as it was looked up."""
        return self.is_known(host, port) or (address, port) in (self._own or ())

    async def is_reachable(self, host: str, port: int, *, by_proxy: bool) -> bool:
        """Whether validation may fetch from *host*. *by_proxy*: a proxy looks up its address, not this machine."""
        if self.is_known(host, port):
            return True
        if by_proxy and not _is_numeric(host):
            return host.lower() != "localhost"
        inside = [address for address in await self._addresses_of(host) if is_inside(address)]
        return not inside or await self._belong_to_crawl(inside, port)

    async def _belong_to_crawl(self, addresses: Iterable[str], port: int) -> bool:
        """Whether each of *addresses* belongs to a host that the crawl has fetched from at *port*."""
        if self._own is None:
            self._own = {
                (address, port)
                for host, port in sorted(self._known)
                for address in await self._addresses_of(host)
            }
        return all((address, port) in self._own for address in addresses)

    async def _addresses_of(self, host: str) -> tuple[str, ...]:
        """The addresses of *host*, looked up once."""
        if host not in self._resolved:
            self._resolved[host] = await run_in_thread(_look_up, host)
        return self._resolved[host]


def is_inside(address: str) -> bool:
    """Whether *address* is not public: private, loopback, link-local, shared or reserved."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return True
    if isinstance(parsed, IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inner is not None:
            return not inner.is_global or inner.is_multicast
    return not parsed.is_global or parsed.is_multicast


def _look_up(host: str) -> tuple[str, ...]:
    """All addresses of *host*; empty if it has none, so that a fetch fails by itself."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return ()
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


def _is_numeric(host: str) -> bool:
    """Whether *host* is an IP address and not a name, or a number that some resolvers take for an address."""
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        # What looks like a number is one to some resolvers: 2130706433 and 0x7f.1 are 127.0.0.1.
        return host.replace(".", "").removeprefix("0x").isalnum() and host[-1:].isdigit()
    return True
