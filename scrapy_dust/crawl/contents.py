"""What a crawl knows of contents: of each page that it gets, whether it is a copy, and of which."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scrapy_dust.crawl.near import NearPages, site_number
from scrapy_dust.dust.contents import Boilerplate, Errors, Kind, Sameness, is_little
from scrapy_dust.sites import site_of
from scrapy_dust.text.content import Content, content_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy_dust.crawl_log.recording import Body
    from scrapy_dust.settings import DustSettings
    from scrapy_dust.signatures.opening import AnyStore
    from scrapy_dust.signatures.store import Known, Signatures


#: Cells to count shingles in: 16 MB, and 64 MB where near-duplicates are looked for, enough for 30,000 pages.
_BITS, _BITS_NEAR = 22, 24


@dataclass(frozen=True, slots=True)
class Seen:
    """What was found of a page."""

    keeper: str | None = None  #: the URL that it is like; None: it is new, or known under this very URL
    by: Sameness | None = None
    kind: Kind = Kind.CONTENT  #: any other: it is no copy, whatever it is like
    is_new: bool = False  #: it keeps its content from now on

    @property
    def is_copy(self) -> bool:
        return self.keeper is not None and self.kind is Kind.CONTENT


class Contents:
    """All contents of a crawl, and of others that share the store."""

    def __init__(self, settings: DustSettings, store: AnyStore, canonize: Callable[[str], str]) -> None:
        self.store = store
        self.copies: Counter[str] = Counter()  #: by keeper
        self._canonize = canonize
        self._expires = settings.content_keep_days is not None
        self._across_sites = settings.content_scope == "all"
        self._errors = Errors(settings.content_errors)
        self._boilerplate = Boilerplate(_BITS_NEAR if settings.content_near else _BITS)
        self._near = NearPages(
            settings.content_near or {},
            store,
            self._boilerplate,
            self._is_same,
            across_sites=self._across_sites,
        )

    def look(self, url: str, body: Body) -> Seen:
        """What the page at *url* is; it is known from now on. Raises `DustError`."""
        site = site_of(url) or ""
        scope = "" if self._across_sites else site
        of_bytes = signature_of(body.content, scope)
        known = self.store.find(of_bytes)
        if known is not None:
            # What these bytes are worth was found out when they were first seen.
            return self._of_known(url, known, (of_bytes,), Sameness.BODY)
        content = content_of(*body, url, scope)
        if content.text is None:
            return self._of_new(url, site, content, (of_bytes,))
        known = self.store.find(content.text)
        if known is not None:
            return self._of_known(url, known, (of_bytes, content.text), Sameness.TEXT)
        return self._of_new(url, site, content, (of_bytes, content.text))

    def forget(self, url: str) -> None:
        """Nothing came of it: the next page with its content is no copy."""
        self.store.release(url)

    def _of_known(self, url: str, known: Known, signatures: Signatures, by: Sameness) -> Seen:
        if self._is_same(url, known.url):
            self._seen_again(known, signatures)
            return Seen(kind=known.kind)
        if known.kind is not Kind.CONTENT:
            return Seen(known.url, by, known.kind)
        return self._like(known.url, by, url, signatures)

    def _seen_again(self, known: Known, signatures: Signatures) -> None:
        showed = self.store.shown(known.url) or signatures
        if self._expires or not set(signatures) <= set(showed):
            self.store.keep(known.url, signatures if len(signatures) > 1 else showed, known.kind)

    def _like(self, keeper: str, by: Sameness, url: str, signatures: Signatures) -> Seen:
        showed = self.store.shown(url)
        if showed is not None and not set(showed) & set(signatures):
            # Said once: from now on this is what the URL shows.
            self.store.keep(url, signatures, Kind.CONTENT, claim=False)
            return Seen(keeper, by, Kind.CHANGED)
        self.copies[keeper] += 1
        return Seen(keeper, by)

    def _of_new(self, url: str, site: str, content: Content, signatures: Signatures) -> Seen:
        kind = self._kind(site, content)
        keeper = None
        if kind is Kind.CONTENT and content.text is not None:
            keeper = self._near.find(url, site, content)
        if len(content.shingles):
            self._boilerplate.learn(site_number(site), content.shingles)
        if keeper is not None:
            return self._like(keeper, Sameness.NEAR, url, signatures)
        first = self.store.keep(url, signatures, kind)
        if first is not None and not self._is_same(url, first.url):
            # Another worker got a copy while this one was being looked at.
            self.copies[first.url] += kind is Kind.CONTENT
            return Seen(first.url, Sameness.TEXT, kind)
        if kind is Kind.CONTENT and content.text is not None:
            self._near.keep(url, site, content)
        return Seen(kind=kind, is_new=True)

    def _kind(self, site: str, content: Content) -> Kind:
        own = len(self._boilerplate.own(site_number(site), content.shingles))
        if is_little(own, content.size, is_text=content.is_text):
            return Kind.LITTLE
        if content.words and self._errors.match(content.heading, content.beginning, content.words, own):
            return Kind.ERROR
        return Kind.CONTENT

    def _is_same(self, url: str, other: str) -> bool:
        return url == other or self._canonize(url) == self._canonize(other)
