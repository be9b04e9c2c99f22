"""What the log already says about pairs of URLs, before anything is fetched.

A redirect says that two URLs are one page; equal text says so too, and so does a rel=canonical that neither
title nor sketch contradicts. URLs that differ in nothing but their fragment are one request, unless a browser
makes it. Different sketches raise a suspicion, and so do equal ones that hold nothing but the site's template, and
different titles. Like sketches under one title leave it open: of such pairs of different texts a quarter on one
tracker, and half on one shop, were different pages.

In logs without contents, how likely a pair is one page by sizes and the like (`likelihood.py`) is told beside it.

What a fetch said of two texts is remembered: it is true of all URLs that show them, whichever rule asks.
What a rule is asked here is not "does u look like r(u)" but "which pages of this log would get one key that
have different keys now": all members of a class are evidence, and two rules that only together merge two
pages are seen doing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.judging import Outcome
from scrapy_dust.dust.likelihood import Likelihood
from scrapy_dust.dust.pages import Page, SiteLog, page_behind
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.strata import template_of
from scrapy_dust.dust.templates import template_hashes
from scrapy_dust.dust.validation import Pair


class LogEvidence:
    """The log of one site, for looking up pairs. *order* is the order to draw URLs in: shuffle it before."""

    def __init__(self, log: SiteLog, order: Iterable[str], matches: int = 4) -> None:
        self._pages = {page.url: page for page in log.pages}
        self._redirects = log.redirects
        self._matches = matches
        self._template = template_hashes(log.pages)
        self._likelihood = _likelihood(log.pages, order := tuple(order))
        self._found: dict[tuple[str, str], Outcome] = {}
        self.nothing: frozenset[str] = frozenset()  #: digests of what the site answers to nonsense
        self.urls: Sequence[str] = tuple(url for url in order if self.page_of(url) is not None)

    def page_of(self, url: str) -> Page | None:
        """The page that *url* led to in the log, by itself or by redirects."""
        return page_behind(url, self._pages, self._redirects)

    def digest(self, url: str) -> str | None:
        """The text digest of *url*, where the log knows one that can be relied on."""
        page = self.page_of(url)
        return None if page is None or page.volatile else page.text_digest

    def shows_elsewhere(self, digest: str, canonizer: Canonizer) -> bool:
        """Whether pages of this text have different keys."""
        having = (url for url, page in self._pages.items() if page.text_digest == digest)
        return len({canonizer.canonize(url) for url in having}) > 1

    def pair(self, url: str, target: str) -> Pair:
        """The pair, with what is known of it."""
        here, there = self.page_of(url), self.page_of(target)
        known = self._known(here, there)
        if known is None and _is_one_request(url, target) and not _are_rendered(here, there):
            known = Outcome.SAME
        found = (
            self._found.get((self._shown(url), self._shown(target))) if known is not Outcome.SAME else None
        )
        return Pair(
            url,
            target,
            found or known,
            content=here.text_digest if here else None,
            made_up=there is None,
            looked_at=found is not None,
            ratio=self._ratio(here, there) if found is None else None,
            texts_differ=known is None and _texts_differ(here, there),
        )

    def _ratio(self, here: Page | None, there: Page | None) -> float | None:
        if self._likelihood is None or here is None or there is None:
            return None
        return self._likelihood.ratio(here, there)

    def learn(self, url: str, target: str, outcome: Outcome) -> None:
        """What a fetch said of the pair."""
        here, there = self._shown(url), self._shown(target)
        if outcome is not Outcome.UNKNOWN:
            self._found[here, there] = outcome
        else:
            self._found.setdefault((here, there), outcome)
        if outcome in (Outcome.SAME, Outcome.DIFFERENT):
            self._found[there, here] = outcome

    def _shown(self, url: str) -> str:
        """What stands for the text that *url* showed, and for the URL itself where that is not reliable."""
        digest = self.digest(url)
        return url if digest is None or digest in self.nothing else digest

    def _known(self, here: Page | None, there: Page | None) -> Outcome | None:
        if here is None:
            return None
        is_nothing = here.text_digest in self.nothing
        if there is None:
            return Outcome.UNKNOWN if is_nothing else None
        if is_nothing and there.text_digest in self.nothing:
            return Outcome.UNKNOWN
        if here is there or (here.text_digest is not None and here.text_digest == there.text_digest):
            return Outcome.SAME
        if not here.sketch or not there.sketch:
            return None
        changes = here.volatile or there.volatile
        agreeing = [x for x, y in zip(here.sketch, there.sketch, strict=False) if x == y]
        if len(agreeing) < min(self._matches, len(here.sketch)) or self._template.issuperset(agreeing):
            return None if changes else Outcome.DIFFERENT
        if here.title and here.title == there.title and _canonical(here) == _canonical(there):
            return Outcome.SAME
        untrue = here.title and there.title and here.title != there.title
        return Outcome.DIFFERENT if untrue and not changes else None


def _texts_differ(here: Page | None, there: Page | None) -> bool:
    if here is None or there is None or here.volatile or there.volatile:
        return False
    return None not in (texts := (here.text_digest, there.text_digest)) and texts[0] != texts[1]


def _is_one_request(url: str, target: str) -> bool:
    """Whether a server is asked the same for both."""
    return url.partition("#")[0] == target.partition("#")[0]


def _are_rendered(here: Page | None, there: Page | None) -> bool:
    """Whether a browser, which may show a page for each fragment, made one of them, or seems to have."""
    pages = [page for page in (here, there) if page is not None]
    texts = {page.text_digest for page in pages} - {None}
    return len(texts) > 1 or any(page.rendered is not None for page in pages)


def _likelihood(pages: Sequence[Page], order: Sequence[str]) -> Likelihood | None:
    """What sizes tell, where the log knows no contents."""
    if any(page.text_digest or page.sketch for page in pages):
        return None
    by_url = {page.url: page for page in pages}
    drawn = [by_url[url] for url in order if url in by_url]
    return Likelihood(drawn, {page.url: template_of(page.url) for page in drawn})


def _canonical(page: Page) -> str:
    return page.canonical or page.url


class Classes:
    """The URLs of the log by key, under the rules accepted so far."""

    def __init__(self, evidence: LogEvidence, canonizer: Canonizer) -> None:
        self._evidence = evidence
        self._key = {url: canonizer.canonize(url) for url in evidence.urls}
        self._forms = {url: canonizer.forms(url) for url in evidence.urls}
        self._members = self._by_key()

    def __len__(self) -> int:
        return len(self._members)

    def _by_key(self) -> dict[str, list[str]]:
        members: dict[str, list[str]] = {}
        for url, key in self._key.items():
            members.setdefault(key, []).append(url)
        return members

    def _touched(self, rule: Rule) -> list[str]:
        """The URLs on whose way to their key *rule* does something."""
        return [url for url, forms in self._forms.items() if any(rule.apply(form) != form for form in forms)]

    def moved(self, rule: Rule, canonizer: Canonizer) -> dict[str, str]:
        """The URLs whose key changes when *rule* is added, which *canonizer* has, with their new keys."""
        changed = {url: canonizer.canonize(url) for url in self._touched(rule)}
        return {url: key for url, key in changed.items() if key != self._key[url]}

    def merged(self, moved: dict[str, str]) -> list[Pair]:
        """A pair for each class that another one swallows, and for each new key that is no URL of the log."""
        pairs = []
        met: dict[str, str] = {}  # new key → the URL that the others are compared with
        done: set[tuple[str, str]] = set()
        for url, key in moved.items():
            old = self._key[url]
            if (old, key) in done:
                continue
            done.add((old, key))
            keeper = met.get(key) or self._member(key, moved)
            if keeper is None:
                keeper = met.setdefault(key, url)
            if keeper != url:
                pairs.append(self._evidence.pair(url, keeper))
            elif self._evidence.page_of(key) is None:
                pairs.append(self._evidence.pair(url, key))
        return pairs

    def _member(self, key: str, moved: dict[str, str]) -> str | None:
        """A URL that has *key* already and keeps it: the key itself where it is one, since no rule vouches for it.

        Another may be there by a mistake of another rule, which must not be laid at this one's door.
        """
        staying = [one for one in self._members.get(key, ()) if one not in moved]
        return key if key in staying else next(iter(staying), None)

    def saved(self, moved: dict[str, str]) -> int:
        """How many classes there are fewer with these keys."""
        return len(self._members) - len({moved.get(url, key) for url, key in self._key.items()})

    def accept(self, rule: Rule, moved: dict[str, str], canonizer: Canonizer) -> None:
        """Take *rule* in, which *canonizer* has and which moves what `moved` said."""
        self._forms.update({url: canonizer.forms(url) for url in self._touched(rule)})
        self._key.update(moved)
        self._members = self._by_key()
