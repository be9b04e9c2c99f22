"""The evidence of the log about pairs of URLs, before anything is fetched.

A redirect says that two URLs are one page; equal texts say so too, and so does a rel=canonical that neither title nor
sketch contradicts. URLs that differ in nothing but their fragment are one request, unless a browser makes it.
Different sketches raise a suspicion, and so do different titles, and equal sketches with nothing but the site's
template. Like sketches under one title leave the question open: of such pairs of different texts a quarter on one
tracker, and half on one shop, were different pages.

In logs without contents, `likelihood.py` estimates from sizes and the like whether a pair is one page.

The result of a fetch of two texts is remembered: it holds for all URLs that show these texts, whichever rule asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scrapy_dust.believe.likelihood import Likelihood
from scrapy_dust.believe.validation import Pair
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.pages import Page, SiteLog, page_behind
from scrapy_dust.visits.strata import template_of
from scrapy_dust.visits.template_hashes import template_hashes


class LogEvidence:
    """Looks up pairs in the log of one site. *order* is the order in which URLs are drawn: shuffle it before."""

    def __init__(self, log: SiteLog, order: Iterable[str], matches: int = 4) -> None:
        self._pages = {page.url: page for page in log.pages}
        self._redirects = log.redirects
        self._comparing = log.comparing
        self._matches = matches
        self.template = template_hashes(log.pages)  #: hashes of the log's sketches that all pages have
        self._likelihood = _likelihood(log.pages, order := tuple(order))
        self._found: dict[tuple[str, str], Outcome] = {}
        self.learned = 0  #: how often `learn` was told something
        self.nothing: frozenset[str] = frozenset()  #: digests of what the site answers to nonsense
        self.urls: Sequence[str] = tuple(
            [url for url in order if url in self._pages or self.page_of(url) is not None]
        )

    def page_of(self, url: str) -> Page | None:
        """The page that *url* led to in the log, by itself or by redirects."""
        return self._pages.get(url) or page_behind(url, self._pages, self._redirects)

    def digest(self, url: str) -> str | None:
        """The digest of the text that *url* shows, if the log has one and the text does not change."""
        page = self.page_of(url)
        return None if page is None or page.volatile else page.exact

    def shows_elsewhere(self, digest: str, canonizer: Canonizer) -> bool:
        """Whether pages whose text has this *digest* have different keys, by the rules of *canonizer*."""
        having = (url for url, page in self._pages.items() if page.exact == digest)
        return len({canonizer.canonize(url) for url in having}) > 1

    def pair(self, url: str, target: str) -> Pair:
        """The pair of *url* and *target*, with the log's evidence about it."""
        here, there = self.page_of(url), self.page_of(target)
        known = self._known_outcome(here, there)
        if known is None and _is_one_request(url, target) and not _are_rendered(here, there):
            known = Outcome.SAME
        by_redirect = known is Outcome.SAME and here is there and self._is_redirected(url, target)
        asks = known is not Outcome.SAME or by_redirect
        differ = known is None and _texts_differ(here, there)
        found = self._found.get(self._question_key(url, target, by_redirect)) if asks else None
        return Pair(
            url,
            target,
            found or known,
            content=here.exact if here else None,
            made_up=there is None,
            looked_at=found is not None,
            ratio=self._likelihood_ratio(here, there) if found is None else None,
            texts_differ=differ,
            is_untold=differ and _have_units(here, there),
            by_redirect=by_redirect and found is None,
        )

    def _is_redirected(self, url: str, target: str) -> bool:
        """Whether the log knows only by a redirect what *url* or *target* shows."""
        return url in self._redirects or target in self._redirects

    def _question_key(self, url: str, target: str, by_redirect: bool) -> tuple[str, str]:
        """A key for the question whether the two show one page: their texts or, where redirects are tested, the URLs."""
        return (url, target) if by_redirect else (self._content_key(url), self._content_key(target))

    def _likelihood_ratio(self, here: Page | None, there: Page | None) -> float | None:
        """How many times likelier the log's sizes and titles are if both are one page; None if that cannot be told."""
        if self._likelihood is None or here is None or there is None:
            return None
        return self._likelihood.ratio(here, there)

    def learn(self, url: str, target: str, outcome: Outcome) -> None:
        """Remember the *outcome* of a fetch of *url* and *target*."""
        self.learned += 1
        here, there = self._question_key(url, target, self.pair(url, target).by_redirect)
        if outcome is not Outcome.UNKNOWN:
            self._found[here, there] = outcome
        else:
            self._found.setdefault((here, there), outcome)
        if outcome in (Outcome.SAME, Outcome.DIFFERENT):
            self._found[there, here] = outcome

    def _content_key(self, url: str) -> str:
        """A text that is equal for URLs that reliably showed the same; *url* itself if nothing reliable is known."""
        digest = self.digest(url)
        return url if digest is None or digest in self.nothing else digest

    def _known_outcome(self, here: Page | None, there: Page | None) -> Outcome | None:
        """The outcome of comparing two pages of the log; None if the log leaves it open."""
        if here is None:
            return None
        is_nothing = here.text_digest in self.nothing
        if there is None:
            return Outcome.UNKNOWN if is_nothing else None
        if is_nothing and there.text_digest in self.nothing:
            return Outcome.UNKNOWN
        if here is not there and not (here.core is None and there.core is None):
            return self._known_by_units(here, there)
        if here is there or (here.text_digest is not None and here.text_digest == there.text_digest):
            return Outcome.SAME
        if not here.sketch or not there.sketch:
            return None
        changes = here.volatile or there.volatile
        agreeing = [x for x, y in zip(here.sketch, there.sketch, strict=False) if x == y]
        if len(agreeing) < min(self._matches, len(here.sketch)) or self.template.issuperset(agreeing):
            return None if changes else Outcome.DIFFERENT
        if here.title and here.title == there.title and _canonical_url(here) == _canonical_url(there):
            return Outcome.SAME
        untrue = here.title and there.title and here.title != there.title
        return Outcome.DIFFERENT if untrue and not changes else None

    def _known_by_units(self, here: Page, there: Page) -> Outcome | None:
        """The outcome of comparing two pages by their units (what a spider may take); None if that does not decide."""
        if here.core is None or there.core is None:
            return None
        if here.text_digest is None or there.text_digest is None:
            return Outcome.UNKNOWN
        if here.text_digest == there.text_digest:
            return Outcome.SAME if here.exact == there.exact else None
        if here.volatile or there.volatile:
            # Further answers that the log has may show that the difference is none. That it is one only fetches show.
            is_same = self.compare(here.url, there.url)[0] is Outcome.SAME
            return Outcome.SAME if is_same else None
        if here.core != there.core:
            return Outcome.DIFFERENT
        outcome, _ = self.compare(here.url, there.url)
        return None if outcome is Outcome.UNKNOWN else outcome

    def compare(self, url: str, target: str) -> tuple[Outcome, str]:
        """The outcome of a close comparison of the pages of both URLs, and the reason: ``differ in text `div.price` ``."""
        here, there = self.page_of(url), self.page_of(target)
        if self._comparing is None or here is None or there is None:
            return Outcome.UNKNOWN, ""
        return self._comparing.compare(here.url, there.url)


def _texts_differ(here: Page | None, there: Page | None) -> bool:
    """Whether the log has different texts of the two pages, neither of which changes from visit to visit."""
    if here is None or there is None or here.volatile or there.volatile:
        return False
    return None not in (texts := (here.text_digest, there.text_digest)) and texts[0] != texts[1]


def _have_units(here: Page | None, there: Page | None) -> bool:
    """Whether the log has units of both pages: the texts, links and pictures that a spider may take."""
    return None not in (here and here.core, there and there.core)


def _is_one_request(url: str, target: str) -> bool:
    """Whether both URLs make the same request to a server."""
    return url.partition("#")[0] == target.partition("#")[0]


def _are_rendered(here: Page | None, there: Page | None) -> bool:
    """Whether a browser, which may show a page for each fragment, made one of the pages, or seems to have."""
    pages = [page for page in (here, there) if page is not None]
    texts = {page.text_digest for page in pages} - {None}
    return len(texts) > 1 or any(page.rendered is not None for page in pages)


def _likelihood(pages: Sequence[Page], order: Sequence[str]) -> Likelihood | None:
    """The estimate of whether two pages are one, from sizes and titles, for a log without contents; None for any other
    log.
    """
    if any(page.text_digest or page.sketch for page in pages):
        return None
    by_url = {page.url: page for page in pages}
    drawn = [by_url[url] for url in order if url in by_url]
    return Likelihood(drawn, {page.url: template_of(page.url) for page in drawn})


def _canonical_url(page: Page) -> str:
    """The URL that *page* declares as canonical; without one, its own."""
    return page.canonical or page.url
