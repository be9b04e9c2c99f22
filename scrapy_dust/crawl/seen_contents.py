"""The contents that a crawl has seen: for each new page, whether it is a copy, and of which page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from scrapy_dust.crawl.near_pages import NearPages, site_number
from scrapy_dust.crawl_log.recording import Body
from scrapy_dust.page.aliases import Aliases
from scrapy_dust.page.content import Content, content_of, signature_of, unit_signature
from scrapy_dust.page.knowledge import NOTHING_KNOWN, Knowledge, Linked, note_linked
from scrapy_dust.page.own import OwnUrl
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.settings import DustSettings
from scrapy_dust.signatures.copies import LITTLE_BYTES, Boilerplate, Errors, Kind, Sameness, is_little
from scrapy_dust.signatures.store_interface import KeeperPage, Signatures
from scrapy_dust.signatures.store_opening import AnyStore
from scrapy_dust.sites import site_of

#: Cells to count units in, 16 MB; and shingles, 64 MB, enough for 30,000 pages.
_BITS, _BITS_NEAR = 22, 24
#: Links whose keys are remembered, some 10 MB.
_LINKS = 50_000


@dataclass(frozen=True, slots=True)
class CopyFinding:
    """The finding about a page: whether it is a copy, of which page, and by which signature."""

    keeper: str | None = None  #: the URL that it is like; None: it is new, or known under this very URL
    by: Sameness | None = None
    kind: Kind = Kind.CONTENT  #: any other: it is no copy, whatever it is like
    is_new: bool = False  #: it keeps its content from now on

    @property
    def is_copy(self) -> bool:
        """Whether another page showed the same content first."""
        return self.keeper is not None and self.kind is Kind.CONTENT


class Contents:
    """All contents that a crawl, or several crawls with one store, have seen.

    *volatile*: by site, the places of pages that are known to change at each fetch.
    """

    def __init__(
        self,
        settings: DustSettings,
        store: AnyStore,
        canonize: Callable[[str], str],
        volatile: Mapping[str, Volatile] = MappingProxyType({}),
    ) -> None:
        self.store = store
        self._canonize = canonize
        self._volatile = volatile
        self._link_key = lru_cache(_LINKS)(canonize)
        #: To be called when rules have changed, so that links are compared by the keys of now.
        self.keys_changed = self._link_key.cache_clear
        self._linked: Linked = {}
        self._ignore = settings.ignore
        self._expires = settings.content_keep_days is not None
        self._across_sites = settings.content_scope == "all"
        self._errors = Errors(settings.content_errors)
        self._common = Boilerplate(_BITS)
        self._aliases = Aliases()
        self._near = None
        if settings.content_near:
            common, across = Boilerplate(_BITS_NEAR), self._across_sites
            self._near = NearPages(settings.content_near, store, common, self._is_same, across_sites=across)

    def examine(self, url: str, body: Body, callback: str = "") -> CopyFinding:
        """Find out whether the page at *url* is a copy, and remember the page. Raises `DustError`.

        Pages for different callbacks are never copies of each other.
        """
        site = site_of(url) or ""
        scope = f"{'' if self._across_sites else site} {callback}"
        content = content_of(*body, url, self._ignore)
        signatures: Signatures = (signature_of(body.content, scope, content.units),)
        if content.units is not None:
            note_linked(self._linked, content.links.values())
            signatures += (self._signature(content, url, scope),)
        for by, signature in zip(Sameness, signatures, strict=False):
            known = self.store.find(signature)
            if known is not None:
                return self._finding_for_known(url, site, content, known, signatures, by)
        known = self._self_named_original(url, content, scope)
        if known is not None:
            return self._finding_for_known(url, site, content, known, signatures, Sameness.UNITS)
        return self._finding_for_new(url, site, content, signatures)

    def _signature(self, content: Content, url: str, scope: str, *, unnamed: bool = False) -> bytes:
        """The signature of *content* within *scope*. *unnamed*: without the canonical URL that the page names."""
        knowledge, with_words = self._knowledge(site_of(url) or ""), not self._ignore
        return unit_signature(content, url, knowledge, scope, with_words=with_words, unnamed=unnamed)

    def _self_named_original(self, url: str, content: Content, scope: str) -> KeeperPage | None:
        """The page that the page at *url* names as its canonical one, if both show the same otherwise."""
        if content.canonical is None or content.units is None:
            return None
        named = OwnUrl(url).on_host(content.canonical)
        if self._is_same(named, url):
            return None
        known = self.store.find(self._signature(content, url, scope, unnamed=True))
        return known if known is not None and self._is_same(named, known.url) else None

    def _knowledge(self, site: str) -> Knowledge:
        """All that is known about pages of *site* for comparing them."""
        volatile = self._volatile.get(site, NOTHING_KNOWN.volatile)
        return replace(NOTHING_KNOWN, key=self._link_key, linked=self._linked, volatile=volatile)

    def _finding_for_known(
        self, url: str, site: str, content: Content, known: KeeperPage, signatures: Signatures, by: Sameness
    ) -> CopyFinding:
        """The finding about a page whose content was first seen at the page *known*."""
        # Of what it shows at its keeper's URL, since a page may be known by its bytes.
        number = _signature_number(self.store.shown(known.url) or signatures)
        # What is common on a site is known better by now than when the keeper came.
        kind = self._content_kind(site, content) if known.kind is Kind.CONTENT else known.kind
        if self._is_same(url, known.url):
            self._refresh_signatures(known, signatures)
            self._learn(url, site, content, number, kind)
            return CopyFinding(kind=known.kind)
        if kind is Kind.CONTENT and not content.is_binary:
            self._aliases.see(known.url, None, number)
            belongs = self._belongs_to_both(url, site, content, known.url, number)
            self._learn(url, site, content, number, kind)
            kind = Kind.CONTENT if belongs else Kind.WALL
        if kind is not Kind.CONTENT:
            return CopyFinding(known.url, by, kind)
        return self._copy_of(known.url, by, url, signatures)

    def _belongs_to_both(self, url: str, site: str, content: Content, keeper: str, number: int) -> bool:
        """Whether the page at *url* is known to belong both to that URL and to *keeper*, so that it is a copy."""
        is_alias = self._aliases.are_aliases(url, content.canonical, keeper, number)
        return is_alias and self._common.knows_enough(site_number(site))

    def _learn(self, url: str, site: str, content: Content, number: int, kind: Kind) -> None:
        """Count the texts of a page, of login walls too: texts that many pages show say little about a page."""
        if kind is Kind.CONTENT:
            self._aliases.see(url, content.canonical, number)
        if content.units is not None:
            self._common.learn(site_number(site), content.shown)

    def _refresh_signatures(self, known: KeeperPage, signatures: Signatures) -> None:
        """Save again that *known* shows its content, so that the store does not forget it."""
        showed = self.store.shown(known.url) or signatures
        if self._expires or not set(signatures) <= set(showed):
            self.store.keep(known.url, signatures if len(signatures) > 1 else showed, known.kind)

    def _copy_of(self, keeper: str, by: Sameness, url: str, signatures: Signatures) -> CopyFinding:
        """The finding that *url* shows the page of *keeper*: a copy, unless *url* showed another page before."""
        showed = self.store.shown(url)
        if showed is not None and not set(showed) & set(signatures):
            # Said once: from now on this is what the URL shows.
            self.store.keep(url, signatures, Kind.CONTENT, claim=False)
            return CopyFinding(keeper, by, Kind.CHANGED)
        return CopyFinding(keeper, by)

    def _finding_for_new(self, url: str, site: str, content: Content, signatures: Signatures) -> CopyFinding:
        """The finding about a page whose content nobody has seen: new, or nearly equal to another page."""
        kind = self._content_kind(site, content)
        outline = self._near.outline(url, content) if self._near is not None else None
        if self._near is not None and outline is not None:
            keeper = self._near.find(site, outline) if kind is Kind.CONTENT else None
            self._near.learn(site, outline)
            if keeper is not None:
                return self._copy_of(keeper, Sameness.NEAR, url, signatures)
        first = self.store.keep(url, signatures, kind)
        if first is not None and not self._is_same(url, first.url):
            # Another worker got a copy while this one was being looked at.
            return self._finding_for_known(url, site, content, first, signatures, Sameness.UNITS)
        self._learn(url, site, content, _signature_number(signatures), kind)
        if self._near is not None and outline is not None and kind is Kind.CONTENT:
            self._near.keep(site, outline)
        return CopyFinding(kind=kind, is_new=True)

    def _content_kind(self, site: str, content: Content) -> Kind:
        """The kind of *content*: a page that counts, next to nothing, or an error page."""
        if content.is_binary:
            return Kind.LITTLE if content.size < LITTLE_BYTES else Kind.CONTENT
        if content.units is None:
            return Kind.CONTENT
        own = len(self._common.without_boilerplate(site_number(site), content.shown))
        if is_little(own, len(content.words), is_markup=content.is_markup):
            return Kind.LITTLE
        if self._errors.match(content.heading, content.beginning, len(content.words), own):
            return Kind.ERROR
        return Kind.CONTENT

    def _is_same(self, url: str, other: str) -> bool:
        """Whether the two are one URL by the rules."""
        return url == other or self._canonize(url) == self._canonize(other)


def _signature_number(signatures: Signatures) -> int:
    return int.from_bytes(signatures[-1][:8], "big")
