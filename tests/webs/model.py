"""Webs: URLs and what each answers, how they are crawled, and which contents a crawl with rules has to find in one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import urlsplit

from w3lib.url import canonicalize_url

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.rules import Rule
from scrapy_dust.sites import site_of

SITE = "webs.test"
ROOT = f"http://{SITE}"
LOGIN = f"{ROOT}/login"
#: A page of another site, which the spider is not allowed to go to.
AWAY = "http://away.test/"
#: Who follows more redirects than these is in a circle.
_HOPS = 20


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


Answer = Page | Redirect | Failure


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


@dataclass(frozen=True)
class Web:
    answers: Mapping[str, Answer]
    links: Mapping[str, tuple[Link, ...]]  #: content → links, in the order of the page
    start: tuple[str, ...]
    rules: tuple[Rule, ...]
    delays: Mapping[str, int]  #: in turns of the event loop
    manner: Manner = field(default_factory=Manner)

    def end_of(self, url: str, *, at_last: bool = False) -> str | None:
        """The content that is behind *url*, after its redirects; None: there is none that can be had.

        *at_last*: or had by who asks again, as links that are not filtered do where nothing is retried.
        """
        for _ in range(_HOPS):
            answer = self.answers.get(url)
            if not self._may_fetch(url):
                return None
            if isinstance(answer, Redirect):
                url = answer.to
            elif isinstance(answer, Failure):
                return answer.then.content if answer.then and (at_last or self.manner.retries) else None
            else:
                return answer.content if answer else None
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

    def required(self, rules: Sequence[Rule], but: Collection[str] = ()) -> set[str]:
        """What is found without a step over *but*, the login, or a class in which *rules* merge contents."""
        classes = self.classes(rules).values()
        merged = {content for contents in classes if len(contents) > 1 for content in contents}
        passed_over = merged | {LOGIN, *but}
        found: set[str] = set()
        urls = list(self.start)
        while urls:
            end = self.end_of(urls.pop())
            if end is not None and end not in found and end not in passed_over:
                found.add(end)
                urls += [link.url for link in self.links.get(end, ())]
        return found

    def behind_the_login(self, rules: Sequence[Rule]) -> set[str]:
        """Contents of the classes of which a URL redirects to the login."""
        classes = self.classes(rules)
        keys = {_key(tuple(rules), url) for url in self.answers if self.end_of(url) == LOGIN}
        return {content for key in keys for content in classes.get(key, ())}


@lru_cache(maxsize=4)
def _canonizer(rules: tuple[Rule, ...]) -> Canonizer:
    return Canonizer({SITE: rules}, site_of, 10)


def _key(rules: tuple[Rule, ...], url: str) -> str:
    # Scrapy's own dupefilter takes for one what w3lib does.
    return canonicalize_url(_canonizer(rules).canonize(url))
