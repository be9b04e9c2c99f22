"""Webs: URLs and what each answers, the spiders that crawl them, and what a crawl may find in one at most."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of

SITE = "webs.test"
ROOT = f"http://{SITE}"
LOGIN = f"{ROOT}/login"
#: A page of another site, which the spider is not allowed to go to.
AWAY = "http://away.test/"
#: A page of another site, which the spider reads, and which links made-up aliases.
STRANGER = "http://stranger.test/"
#: Who follows more redirects than these is in a circle.
_HOPS = 20

#: Who yields it, of which content, in which language and in which round.
Item = tuple[str, str, str, int]


@dataclass(frozen=True)
class Page:
    content: str
    #: Until so many requests have come to the web, it shows the page that this one is taken for.
    turns_after: int = 0

    @property
    def taken_for(self) -> str:
        """The content that a rule takes this one for: what stands before its colon."""
        return self.content.partition(":")[0]


@dataclass(frozen=True)
class Redirect:
    to: str
    refresh: bool = False  #: by the page, not by the status


@dataclass(frozen=True)
class Failure:
    #: A status; or "silence", "timeout", or "refused": by a middleware of the project, when the answer is there.
    what: int | str
    times: int | None = None  #: so often, and then the page that stands here; None: always
    then: Page | None = None


@dataclass(frozen=True)
class Soft:
    """An answer that looks like a page to Scrapy and shows none."""

    #: A status from 200 on; "empty", "partial": of a page the beginning; "wall": the same for all;
    #: "unlike": another for each URL; "wait": the same for all, until `then` is there.
    what: int | str
    times: int | None = None
    then: Page | None = None


Answer = Page | Redirect | Failure | Soft


@dataclass(frozen=True)
class Handling:
    """What the spider does with an answer."""

    callback: str = "whole"  #: "whole", "part" or "leaf", which follows no links
    category: str = ""  #: what the request says besides
    #: A bug of the spider's: "first", before anything is yielded; "later", when the item was.
    raises: str = ""
    is_dropped: bool = False  #: a spider middleware keeps the answer back


@dataclass(frozen=True)
class Link:
    url: str
    priority: int = 0
    unfiltered: bool = False


@dataclass(frozen=True)
class Manner:
    """How a web is crawled."""

    concurrency: int = 1
    retries: bool = True
    breadth_first: bool = False
    start_unfiltered: bool = False
    disallowed: tuple[str, ...] = ()  #: by robots.txt: beginnings of paths
    canary_rate: float = 0
    rewrite: bool = False
    stale: bool = False  #: nothing has tested the rules for long
    mode: str = "enforce"
    content_dedup: str = "off"
    cache: bool = False
    pauses: tuple[int, ...] = ()  #: after so many pages the job is paused, and goes on
    damage: str = ""  #: what happens to our files at each pause: "emptied", "torn", "noise"
    is_disk_full: bool = False
    by_rules: bool = False  #: the spider is a CrawlSpider
    named: str = (
        ""  #: where a request has its category, which the user has named: "cb_kwargs", "meta:category"
    )
    inner: str = ""  #: dupefilter of the project's: "window", which forgets with each round, or "base"
    rounds: int = 1  #: how often the spider begins again
    languages: tuple[str, ...] = (
        "",
    )  #: in which each page is asked for; a fingerprinter of the project's tells
    depth_limit: int = 0


@dataclass(frozen=True)
class Web:
    answers: Mapping[str, Answer]
    links: Mapping[str, tuple[Link, ...]]  #: content → links, in the order of the page
    start: tuple[str, ...]
    rules: tuple[Rule, ...]
    delays: Mapping[str, int]  #: in turns of the event loop
    manner: Manner = field(default_factory=Manner)
    #: By URL, so that no order of answers decides it; the others are handled as a whole.
    handled: Mapping[str, Handling] = field(default_factory=dict)

    def handling(self, url: str) -> Handling:
        return self.handled.get(url, _WHOLE)

    def end_of(self, url: str, *, at_last: bool = False) -> str | None:
        """The content that is behind *url*, after its redirects; None: there is none that can be had.

        *at_last*: or had by who asks again, as links that are not filtered do where nothing is retried.
        """
        for _ in range(_HOPS):
            answer = self.answers.get(url)
            if not self._may_fetch(url):
                return None
            match answer:
                case Redirect(to):
                    url = to
                case Failure(then=then):
                    return then.content if then and (at_last or self.manner.retries) else None
                case Soft(then=then):
                    return then.content if then else None
                case Page(content):
                    return content
                case _:
                    return None
        return None

    def _may_fetch(self, url: str) -> bool:
        if url.startswith(AWAY):
            return self._may_leave
        path = urlsplit(url).path
        return not any(path.startswith(begin) for begin in self.manner.disallowed)

    @property
    def _may_leave(self) -> bool:
        """What asks not to be filtered goes to any site, and so does what it is redirected to."""
        return self.manner.start_unfiltered or any(one.unfiltered for of in self.links.values() for one in of)

    def classes(self, rules: Sequence[Rule]) -> dict[str, set[str]]:
        """The contents behind the URLs of each class. The login is nobody's content."""
        found: dict[str, set[str]] = {}
        for url in self.answers:
            end = self.end_of(url, at_last=True)
            if end is not None and LOGIN not in (url, end):
                found.setdefault(_key(tuple(rules), url), set()).add(end)
        return found

    def merged(self, rules: Sequence[Rule]) -> frozenset[str]:
        """Contents that share a class with another, and the login."""
        classes = self.classes(rules).values()
        return frozenset({LOGIN}.union(*(contents for contents in classes if len(contents) > 1)))

    def at_most(self, but: Collection[str]) -> frozenset[Item]:
        """What a spider can yield that takes nothing of the contents *but*: if nothing ends early, it yields that."""
        visited: set[str] = set()
        urls = list(self.start)
        found: set[Item] = set()
        while urls:
            url = urls.pop()
            end = self.end_of(url, at_last=True)
            if url in visited or end is None or end in but:
                continue
            visited.add(url)
            handling = self.handling(url)
            found |= set(self._items(handling, end))
            if handling.callback != "leaf":
                urls += [link.url for link in self.links.get(end, ())]
        return frozenset(found)

    def _items(self, handling: Handling, content: str) -> Iterator[Item]:
        for language in self.manner.languages:
            for number in range(1, self.manner.rounds + 1):
                yield item(handling, content, language, number)

    def in_any_order(self, items: Collection[Item]) -> frozenset[Item]:
        """Of *items*, those that a depth limit takes from no spider, whatever comes first."""
        if not self.manner.depth_limit:
            return frozenset(items)
        return frozenset(items) & frozenset(_sure(self))

    def behind_the_login(self, rules: Sequence[Rule]) -> set[str]:
        """Contents of the classes of which a URL redirects to the login."""
        classes = self.classes(rules)
        keys = {_key(tuple(rules), url) for url in self.answers if self.end_of(url) == LOGIN}
        return {content for key in keys for content in classes.get(key, ())}

    def behind_walls(self, rules: Sequence[Rule]) -> dict[str, set[str]]:
        """By URL that shows a wall: the contents of its class."""
        classes = self.classes(rules)
        walls = (
            url for url, answer in self.answers.items() if isinstance(answer, Soft) and answer.what in _WALLS
        )
        return {url: classes.get(_key(tuple(rules), url), set()) for url in walls}

    def key(self, rules: Sequence[Rule], url: str) -> str:
        return _key(tuple(rules), url)


def item(handling: Handling, content: str, language: str, number: int) -> Item:
    return (f"{handling.callback} {handling.category}", content, language, number)


def _sure(web: Web) -> Iterator[Item]:
    """What is yielded whichever way to a URL is found first.

    A URL is visited for certain when a page is that links it, and that the limit lets do so at whatever depth it was
    come by. Webs with a depth limit have no redirects.
    """
    depths = _depths(web)
    visited, waiting = set(web.start), list(web.start)
    while waiting:
        url = waiting.pop()
        handling, end = web.handling(url), web.end_of(url)
        if end is None or handling.is_dropped or handling.raises == "first":
            continue
        for language in web.manner.languages:
            yield item(handling, end, language, 1)
        if max(depths[url]) < web.manner.depth_limit:
            new = set(_linked(web, url)) - visited
            visited |= new
            waiting += new


def _depths(web: Web) -> dict[str, set[int]]:
    """At which depths each URL may be come by first."""
    depths: dict[str, set[int]] = {}
    waiting = [(url, 0) for url in web.start]
    while waiting:
        url, depth = waiting.pop()
        known = depths.setdefault(url, set())
        if depth not in known:
            known.add(depth)
            if depth < web.manner.depth_limit:
                waiting += [(linked, depth + 1) for linked in _linked(web, url)]
    return depths


def _linked(web: Web, url: str) -> Iterator[str]:
    """What the spider follows of the page behind *url*."""
    handling, end = web.handling(url), web.end_of(url)
    if end is not None and not handling.raises and not handling.is_dropped and handling.callback != "leaf":
        yield from (link.url for link in web.links.get(end, ()))


_WHOLE = Handling()

#: Soft answers that only a look at other answers can tell from a page.
_WALLS = ("wall",)


@lru_cache(maxsize=4)
def _canonizer(rules: tuple[Rule, ...]) -> Canonizer:
    return Canonizer({SITE: rules}, site_of, 10)


def _key(rules: tuple[Rule, ...], url: str) -> str:
    # Scrapy's own dupefilter takes for one what w3lib does.
    return canonicalize_url(_canonizer(rules).canonize(url))
