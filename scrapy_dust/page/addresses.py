"""The URLs in a document, made absolute as Scrapy would request them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urljoin

from scrapy_dust.page.places import url_value
from scrapy_dust.page.values import hash_of, value_of

#: What white space HTML knows.
WHITE = " \t\n\r\f"
#: URLs of which w3lib leaves each character as it is.
_SAFE = re.compile(
    r"https?://(?![^/?:]{61})(?:[a-z0-9]{1,30}[.-])*[a-z0-9]{1,30}(?::[1-9][0-9]{0,3})?/[A-Za-z0-9._~/-]*+(?:\?[A-Za-z0-9._~=&-]++)?"
)
#: What joining leaves as it is: no dots as segments, nothing to escape.
_FROM_ROOT = re.compile(r"/(?!/)(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*+/?+)*+(?:\?[A-Za-z0-9._~=&-]++)?")
#: Likewise, from a base that joining leaves as it is: so many folders up, and what stands below; or a query.
_FROM_FOLDER = re.compile(
    r"(?:\./)?+((?:\.\./)*+)((?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*+(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*+)*+/?(?:\?[A-Za-z0-9._~=&-]++)?)?+)"
)
_QUERY = re.compile(r"\?[A-Za-z0-9._~=&-]++")
#: A fragment that joining cannot trip over.
_FRAGMENT = re.compile(r"[!-~]*+")
#: From the root, or with a host.
_OF_SITE = re.compile(r"(?:(?:https?:)?/)?/[^/?#\s\\]|/(?:[?#]|\Z)")
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
    """*url* with the characters escaped that no URL may have, as Scrapy does it. *encoding*: that of the query."""
    if _SAFE.fullmatch(url):
        return url
    # Not loaded for those: it brings TLS and HTTP, 9 MB of the process beside a crawl.
    from w3lib.url import safe_url_string  # noqa: PLC0415

    return safe_url_string(url, encoding)


class Medium(NamedTuple):
    """The hashes that stand for a picture or another file."""

    value: int  #: without the host, since sites spread their pictures over several
    parts: tuple[int, ...] = ()  #: of its path, and of each part of its query
    foreign: int | None = (
        None  #: of a document there that stands in the page, where its host is not the page's own
    )


#: The absolute URL to which a link leads, without its fragment, and the value of a link to it. None: it is no http(s) URL.
Target = tuple[str | None, int]


class OfSite:
    """The links and files, by ``href``, that are the same on every page of a site: resolved once for all pages."""

    __slots__ = ("links", "media")

    def __init__(self) -> None:
        self.links: dict[str, Target] = {}
        self.media: dict[str, Medium] = {}


Known = dict[tuple[str, str], OfSite]


def is_of_site(href: str) -> bool:
    """Whether *href* leads to the same page from all pages of a site."""
    return _OF_SITE.match(href) is not None and len(href) <= _MAX_LENGTH


class Addresses:
    """Resolves the URLs of documents with one base and one encoding."""

    def __init__(self, url: str, encoding: str, known: Known) -> None:
        self._url, self._encoding = url, encoding
        if _SAFE.fullmatch(url):
            self._root = url[: url.find("/", url.find("://") + 3)]
        else:
            self._root = (absolute(url, "", "/", encoding) or "").removesuffix("/")
        self._host = _host(self._root)
        # What does not depend on the path of the document is kept for others of its site.
        self.of_site = known.setdefault((self._root, encoding), OfSite())
        self._of_document = OfSite()
        # Of a base that joining leaves as it is: itself without its query, and its folder.
        plain = bool(self._root) and url.startswith(self._root) and _FROM_ROOT.fullmatch(url, len(self._root))
        self._page = url.partition("?")[0] if plain else ""
        self._folder = self._page[: self._page.rfind("/") + 1]

    def targets(self, hrefs: Iterable[str]) -> list[Target]:
        """Where links with these *hrefs* lead."""
        known, link = self.of_site.links.get, self.link
        return [known(href) or link(href) for href in hrefs]

    def link(self, href: str) -> Target:
        """Where a link with this *href* leads."""
        links = (self.of_site if is_of_site(href) else self._of_document).links
        found = links.get(href)
        if found is None:
            url = self._resolved(href)
            found = links[href] = (url, value_of(href) if url is None else url_value(url))
        return found

    def medium(self, href: str) -> Medium:
        """The hashes of a picture or another file at *href*."""
        known = self.of_site.media.get(href)
        if known is None:
            media = (self.of_site if is_of_site(href) else self._of_document).media
            known = media.get(href)
            if known is None:
                known = media[href] = self._medium(href)
        return known

    def _medium(self, href: str) -> Medium:
        """Compute the result of `medium`."""
        url = self._resolved(href)
        if url is None:
            return Medium(_hash(href))
        slash = url.find("/", url.find("://") + 3)
        # A picture that is a part of the document is the same part of whichever document.
        picture = href if href.startswith("#") else url[slash:] if slash >= 0 else "/"
        if (part := href.partition("#")[2]) and picture is not href:
            picture = f"{picture}#{part}"
        host = _host(url)
        foreign = None if host == self._host else _hash(f"//{host}{picture}")
        return Medium(_hash(picture), _parts(picture), foreign)

    def _resolved(self, href: str) -> str | None:
        """*href* as `absolute` has it, without its fragment; quickly where little in it is to be resolved."""
        plain, mark, fragment = href.partition("#")
        if mark and (len(href) > _MAX_LENGTH or not _FRAGMENT.fullmatch(fragment)):
            plain = href
        if self._root and _FROM_ROOT.fullmatch(plain):
            return f"{self._root}{plain}"
        if self._page and plain:
            if _QUERY.fullmatch(plain):
                return f"{self._page}{plain}"
            if found := _FROM_FOLDER.fullmatch(plain):
                return f"{self._above(len(found[1]) // 3)}{found[2]}"
        if len(href) > _MAX_LENGTH:
            return None
        url = href if _SAFE.fullmatch(href) else absolute(self._url, "", href, self._encoding)
        return None if url is None else url.partition("#")[0]

    def _above(self, steps: int) -> str:
        """The folder so many *steps* above the document's, or the root."""
        end = len(self._folder)
        for _ in range(steps):
            end = self._folder.rfind("/", 0, end - 1) + 1
            if end <= len(self._root):
                return f"{self._root}/"
        return self._folder[:end]


def _host(url: str) -> str:
    """The host of *url* without ``www.``."""
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def _parts(picture: str) -> tuple[int, ...]:
    """Hashes of the parts of a picture's URL: if the query changes at each fetch, the path still names the picture."""
    path, mark, query = picture.partition("?")
    if not mark or len(query) > _MAX_LENGTH:
        return ()
    named = (part.partition("=") for part in query.split("&")[:_MAX_PARTS])
    return (value_of(f"path {path}"), *(value_of(f"{name} {value}") for name, _, value in named))


def _hash(said: str) -> int:
    return hash_of(said) & 0xFFFFFFFF
