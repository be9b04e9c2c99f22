"""Which site a URL belongs to: the registrable domain with all of its hosts.

Private suffixes (``github.io``) separate sites as public ones do. An IP address or a name of one label is a
site of its own, port included, since nothing says that another port is the same server's.
The list of suffixes is the one that comes with tldextract; nothing is fetched.
"""

from __future__ import annotations

from functools import cache, lru_cache
from urllib.parse import urlsplit

import tldextract


@cache
def _extractor() -> tldextract.TLDExtract:
    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


def site_of(url: str) -> str | None:
    """The site of *url*; None where it is no http(s) URL with a host."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return None
        return site_of_host(parts.netloc.rpartition("@")[2].lower())
    except ValueError:
        return None


@lru_cache(maxsize=65536)
def site_of_host(netloc: str) -> str | None:
    """The site of a host, with its port where it has one."""
    host = urlsplit(f"//{netloc}").hostname
    if not host:
        return None
    found = _extractor()(host)
    if found.ipv4 or found.ipv6 or "." not in host.strip("."):
        return netloc
    if not found.suffix:
        # The prevailing rule of the suffix list for names it does not know is "*": the last label.
        return ".".join(host.strip(".").split(".")[-2:])
    return f"{found.domain}.{found.suffix}" if found.domain else host
