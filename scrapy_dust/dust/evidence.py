"""What the log already says about pairs of URLs, before anything is fetched.

A redirect says that two URLs are one page; equal text says so too; different sketches raise a suspicion, and
so do equal ones that hold nothing but the site's template.
What a rule is asked here is not "does u look like r(u)" but "which pages of this log would get one key that
have different keys now": all members of a class are evidence, and two rules that only together merge two
pages are seen doing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.judging import Outcome
from scrapy_dust.dust.pages import Page, SiteLog, page_behind
from scrapy_dust.dust.rules import Rule
from scrapy_dust.dust.templates import template_hashes
from scrapy_dust.dust.validation import Pair


class LogEvidence:
    """The log of one site, for looking up pairs. *order* is the order to draw URLs in: shuffle it before."""

    def __init__(self, log: SiteLog, order: Iterable[str], matches: int = 4) -> None:
        self._pages = {page.url: page for page in log.pages}
        self._redirects = log.redirects
        self._matches = matches
        self._template = template_hashes(log.pages)
        self.nothing: frozenset[str] = frozenset()  #: digests of what the site answers to nonsense
        self.urls: Sequence[str] = tuple(url for url in order if self.page_of(url) is not None)

    def page_of(self, url: str) -> Page | None:
        """The page that *url* led to in the log, by itself or by redirects."""
        return page_behind(url, self._pages, self._redirects)

    def digest(self, url: str) -> str | None:
        """The text digest of *url*, where the log knows one that can be relied on."""
        page = self.page_of(url)
        return None if page is None or page.volatile else page.text_digest

    def pair(self, url: str, target: str) -> Pair:
        """The pair, with what the log says of it."""
        here, there = self.page_of(url), self.page_of(target)
        content = here.text_digest if here else None
        return Pair(url, target, self._known(here, there), content)

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
        if here.volatile or there.volatile or not here.sketch or not there.sketch:
            return None
        agreeing = [x for x, y in zip(here.sketch, there.sketch, strict=False) if x == y]
        if len(agreeing) < min(self._matches, len(here.sketch)) or self._template.issuperset(agreeing):
            return Outcome.DIFFERENT
        return None


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
            keeper = met.get(key) or next(
                (one for one in self._members.get(key, ()) if one not in moved), None
            )
            if keeper is None:
                keeper = met.setdefault(key, url)
            if keeper != url:
                pairs.append(self._evidence.pair(url, keeper))
            elif self._evidence.page_of(key) is None:
                pairs.append(self._evidence.pair(url, key))
        return pairs

    def saved(self, moved: dict[str, str]) -> int:
        """How many classes there are fewer with these keys."""
        return len(self._members) - len({moved.get(url, key) for url, key in self._key.items()})

    def accept(self, rule: Rule, moved: dict[str, str], canonizer: Canonizer) -> None:
        """Take *rule* in, which *canonizer* has and which moves what `moved` said."""
        self._forms.update({url: canonizer.forms(url) for url in self._touched(rule)})
        self._key.update(moved)
        self._members = self._by_key()
