"""The URLs in a document, made absolute as Scrapy would request them."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urljoin

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.places import url_value
from scrapy_dust.page.values import value_of

#: What white space HTML knows.
WHITE = " \t\n\r\f"
#: URLs of which w3lib leaves each character as it is.
_SAFE = re.compile(
    r"https?://(?![^/?:]{61})(?:[a-z0-9]{1,30}[.-])*[a-z0-9]{1,30}(?::[1-9][0-9]{0,3})?/[A-Za-z0-9._~/-]*+(?:\?[A-Za-z0-9._~=&-]++)?"
)
#: What joining leaves as it is: no dots as segments, nothing to escape.
_FROM_ROOT = re.compile(r"/(?!/)(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*+/?+)*+(?:\?[A-Za-z0-9._~=&-]++)?")
#: A longer one is compared as it stands.
_MAX_LENGTH = 4000
#: Parts of a query that are looked at.
_MAX_PARTS = 12


def absolute(url: str, base: str, href: str, encoding: str) -> str | None:
    """*href* as the URL that Scrapy would request; None if it is no http(s) URL."""
    href = href.strip(WHITE)
    if not href:
        return None
    try:
        found = _safe(urljoin(urljoin(url, base.strip(WHITE)), href), encoding)
    except ValueError:
        return None
    return found if found.startswith(("http://", "https://")) else None


def _safe(url: str, encoding: str) -> str:
    if _SAFE.fullmatch(url):
        return url
    # Not loaded for those: it brings TLS and HTTP, 9 MB of the process beside a crawl.
    from w3lib.url import safe_url_string  # noqa: PLC0415

    return safe_url_string(url, encoding)


class Target(NamedTuple):
    """The URL to which a link leads, also as the values of units."""

    url: str | None  #: absolute, without its fragment; None: it is no http(s) URL
    value: int  #: of a link to it
    media_value: int  #: of a picture there: without the host, since sites spread their pictures over several
    media_parts: tuple[int, ...] = ()  #: of its path, and of each part of its query
    foreign: int | None = (
        None  #: of a document there that stands in the page, where its host is not the page's own
    )


class Addresses:
    """Resolves the URLs of documents with one base and one encoding."""

    def __init__(self, url: str, encoding: str, known: dict[tuple[str, str], dict[str, Target]]) -> None:
        self._url, self._encoding = url, encoding
        self._root = (absolute(url, "", "/", encoding) or "").removesuffix("/")
        # What does not depend on the path of the document is kept for others of its site.
        self._of_site = known.setdefault((self._root, encoding), {})
        self._of_document: dict[str, Target] = {}

    def of(self, href: str) -> Target:
        """Where a link with this *href* leads."""
        found = self._of_site.get(href) or self._of_document.get(href)
        if found is None:
            found = self._target(href)
            of_site = href.startswith(("/", "http://", "https://")) and len(href) <= _MAX_LENGTH
            (self._of_site if of_site else self._of_document)[href] = found
        return found

    def _target(self, href: str) -> Target:
        if self._root and _FROM_ROOT.fullmatch(href):
            return Target(f"{self._root}{href}", url_value(f"{self._root}{href}"), _hash(href), _parts(href))
        url = absolute(self._url, "", href, self._encoding) if len(href) <= _MAX_LENGTH else None
        if url is None:
            return Target(None, value_of(href), _hash(href))
        url = url.partition("#")[0]
        slash = url.find("/", url.find("://") + 3)
        # A picture that is a part of the document is the same part of whichever document.
        picture = href if href.startswith("#") else url[slash:] if slash >= 0 else "/"
        host = _host(url)
        foreign = None if host == _host(self._root) else _hash(f"//{host}{picture}")
        return Target(url, url_value(url), _hash(picture), _parts(picture), foreign)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def _parts(picture: str) -> tuple[int, ...]:
    """The parts of a picture's URL: if the query changes at each fetch, the path still names the picture."""
    path, mark, query = picture.partition("?")
    if not mark or len(query) > _MAX_LENGTH:
        return ()
    named = (part.partition("=") for part in query.split("&")[:_MAX_PARTS])
    return (value_of(f"path {path}"), *(value_of(f"{name} {value}") for name, _, value in named))


def _hash(said: str) -> int:
    return xxh3_64_intdigest(said.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF
