"""The site of a URL: the registrable domain with all of its hosts.

Private suffixes (``github.io``) separate sites as public ones do. An IP address or a name of one label is a
site of its own, port included, since nothing says that another port is the same server's.
The list of suffixes is the one that comes with tldextract; nothing is fetched.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from scrapy_dust.public_suffixes import registrable

# No user, no brackets, nothing to strip or to convert.
_PLAIN = re.compile(r"[A-Za-z0-9._-]+(?::[0-9]+)?", re.ASCII)


def site_of(url: str) -> str | None:
    """The site of *url*; None where it is no http(s) URL with a host, or has a port that cannot be."""
    # Asked of every request and every line of a log, and nearly always of a host that was there before.
    head = url.split("/", 3)
    if len(head) > 2 and not head[1] and (head[0] == "http:" or head[0] == "https:"):
        return _site_of_plain_netloc(head[2]) or parsed_site_of(url)
    return parsed_site_of(url)


@lru_cache(maxsize=65536)
def _site_of_plain_netloc(netloc: str) -> str | None:
    """The site of *netloc*, if it is spelled so plainly that all URL parsers agree on its host; else None."""
    return site_of_host(netloc.lower()) if _PLAIN.fullmatch(netloc) else None


def netloc_of(url: str) -> str:
    """The host and port that *url* names, in lower case and unchecked."""
    return url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2].lower()


def is_below(url: str, host: str) -> bool:
    """Whether the host of *url* is *host*, which may have a port, or a host below it."""
    netloc, wanted = netloc_of(url), host.lower()
    bare = netloc.partition(":")[0] if not netloc.startswith("[") else netloc
    return wanted in (netloc, bare) or bare.endswith(f".{wanted}")


def parsed_site_of(url: str) -> str | None:
    """The site of *url* in any spelling, by the standard library's parser, which takes ten times as long as `site_of`."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            return None
        return site_of_host(parts.netloc.rpartition("@")[2].lower())
    except ValueError:
        return None


def _has_possible_port(parts: SplitResult) -> bool:
    """Whether the port is a number that a port can have, or is missing."""
    try:
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


@lru_cache(maxsize=65536)
def site_of_host(netloc: str) -> str | None:
    """The site of a host, with its port where it has one; None where there is no host, or no such port."""
    parts = urlsplit(f"//{netloc}")
    host = parts.hostname
    if not host or not _has_possible_port(parts):
        return None
    found = registrable(host)
    if found is None or "." not in host.strip("."):
        return netloc
    below, suffix = found
    if not suffix:
        # The prevailing rule of the suffix list for names it does not know is "*": the last label.
        return ".".join(host.strip(".").split(".")[-2:])
    return f"{below}.{suffix}" if below else host
