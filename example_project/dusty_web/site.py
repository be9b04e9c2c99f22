"""What a site is made of: contents, the spellings of each, the links between them, and the answer to any URL.

The links of a page depend on its content alone, never on the URL that it was asked by. So a crawl that fetches
one URL of every class sees every link there is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from dusty_web.prose import drawing


class Changes(StrEnum):
    """What of a page is new at each fetch."""

    NOTHING = "nothing"
    COUNTER = "counter"
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """One page, whatever it is called."""

    id: str
    title: str
    topic: str  #: which words it is about
    home: str  #: a URL that always shows it, by the first request, though it may redirect
    also: tuple[str, ...] = ()  #: other URLs of it that are linked; some of them may fail
    offers: tuple[str, ...] = ()  #: the same, linked from the page itself as well ("print this")
    failing: tuple[str, ...] = ()  #: the same, and they do not answer with the page, or not at first
    lists: tuple[str, ...] = ()  #: ids of the contents it links to by their homes
    words: int = 300  #: length of the text, about
    size: int = 0  #: bytes to fill the page up to
    changes: Changes = Changes.NOTHING
    copy_of: str = ""  #: id of the content that this is a byte for byte copy of
    canonical: str = ""  #: what its rel=canonical says, true or not
    sortable: bool = False  #: has a line of sort orders
    is_leaf: bool = False  #: nothing is linked from here but the navigation

    @property
    def spellings(self) -> tuple[str, ...]:
        return (self.home, *self.also, *self.offers, *self.failing)


@dataclass(frozen=True, slots=True)
class Asked:
    """A URL, taken apart as far as all four sites do."""

    host: str
    path: str
    params: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, url: str) -> Asked:
        parts = urlsplit(url)
        pairs = (pair.partition("=") for pair in parts.query.split("&") if pair)
        params = tuple((name, value) for name, _, value in pairs)
        return cls(parts.netloc.lower(), unquote(parts.path) or "/", params)

    def param(self, name: str) -> str | None:
        return next((value for key, value in self.params if key == name), None)


@dataclass(frozen=True, slots=True)
class Shows:
    """Status 200 with a page."""

    id: str
    order: str = "date"  #: which sort order stands first in the chrome
    for_print: bool = False
    fails_first: bool = False  #: the first request is answered with 503


@dataclass(frozen=True, slots=True)
class Redirects:
    status: int
    to: str


@dataclass(frozen=True, slots=True)
class Fails:
    status: int


@dataclass(frozen=True, slots=True)
class Apologizes:
    """Status 200 and the words "not found": a soft error."""


@dataclass(frozen=True, slots=True)
class Acts:
    """Status 200, and something was changed or deleted by the request."""


Answer = Shows | Redirects | Fails | Apologizes | Acts


@dataclass(frozen=True, slots=True)
class Chrome:
    """What surrounds every page of a site."""

    name: str
    navigation: tuple[tuple[str, str], ...]  #: text and URL
    small_print: str
    absolute_links: bool = False  #: links are written with their host


class Site(ABC):
    """One site of the web. What is declared here, `build` and `answer` are what the four differ in."""

    domain: ClassVar[str]
    hosts: ClassVar[tuple[str, ...]]
    chrome: ClassVar[Chrome]
    disallowed: ClassVar[str]  #: the path prefix that robots.txt excludes, on all hosts
    disallowed_links: ClassVar[tuple[str, ...]]  #: linked URLs in the excluded area
    dead_links: ClassVar[tuple[str, ...]] = ()  #: linked URLs that lead nowhere

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.contents = {content.id: content for content in self.build()}
        #: Content id → the URLs linked in its text.
        self.links = _weave(self)

    @abstractmethod
    def build(self) -> Iterator[Content]:
        """All contents; the first is the front page, where a crawl starts."""

    @abstractmethod
    def answer(self, asked: Asked) -> Answer:
        """What a request for a URL of this site gets, robots.txt and the excluded area aside."""

    @property
    def front(self) -> Content:
        return next(iter(self.contents.values()))

    def linked(self) -> Iterator[str]:
        """Every URL of the site that is linked somewhere, the excluded area too, each once."""
        urls = [url for links in self.links.values() for url in links]
        urls += [url for _, url in self.chrome.navigation]
        return iter(dict.fromkeys((self.front.home, *urls)))


def _weave(site: Site) -> dict[str, tuple[str, ...]]:
    """Who links what: a tree over the homes, and each other spelling from two pages that chance picks."""
    contents = site.contents
    links = {
        content.id: [*content.offers, *(contents[listed].home for listed in content.lists)]
        for content in contents.values()
    }
    givers = [content.id for content in contents.values() if not content.is_leaf]

    def link(urls: Iterable[str], times: int) -> None:
        for url in urls:
            for giver in drawing(site.seed, "link", url).sample(givers, times):
                links[giver].append(url)

    for content in contents.values():
        link(content.also, 2)
        link((*content.offers, *content.failing), 1)
    link((*site.dead_links, *site.disallowed_links), 2)
    # Early in the crawl, so that of such a class the spelling that fails is often the first one asked for.
    links[site.front.id] += [url for content in contents.values() for url in content.failing]
    return {giver: tuple(dict.fromkeys(urls)) for giver, urls in links.items()}
