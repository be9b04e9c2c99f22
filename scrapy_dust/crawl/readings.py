"""Keeps for a while what the pages of a crawl said, so that two pages can be compared without fetching either again.

The two pages came at different times, and one may have changed in between. So equal readings prove that two pages are
the same; different readings prove nothing, and an inquiry decides.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.http import TextResponse

from scrapy_dust.crawl.inquiries import read
from scrapy_dust.crawl.judges import Judges
from scrapy_dust.crawl.pages_kept import PagesKept
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page.compare import Same

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_dust.judge.judging import Judge
    from scrapy_dust.page.knowledge import Knowledge

#: Of the latest pages so many units are kept in all: 16 MB, and 4,000 pages of 500 units.
KEPT = 2_000_000
#: A page counts as so many more for all that comes with it.
_BESIDE = 100
#: Pages of a host that its template is learned from.
_LEARNED = 60


class Readings:
    """What the latest pages of one crawl said."""

    #: Pages of canaries that wait for their keepers: some 20 MB, of 500 units each.
    held = 4000
    #: Whether a page is read with the URLs of its links, so that an inquiry may use it as it is.
    has_links = False

    def __init__(
        self, knowledge: Mapping[str, Knowledge] = MappingProxyType({}), ignore: Sequence[str] = ()
    ) -> None:
        """A store for readings. *knowledge*: by site, what is known for comparing its pages; *ignore*: CSS selectors
        of elements that do not count.
        """
        self._ignore = ignore
        self._pages: OrderedDict[str, Fetched] = (
            OrderedDict()
        )  # by the URL that was asked for, the oldest first
        self._size = 0
        self._judges = Judges(knowledge)
        self._learned: WeakKeyDictionary[Judge, int] = WeakKeyDictionary()

    def read(self, response: Response, url: str) -> Fetched | None:
        """What *response*, which came for *url*, said; None if only its bytes can be compared."""
        if not isinstance(response, TextResponse):
            return None
        page = read(response, url, self._ignore)
        if page.shown is None:
            return page
        # What places are called nobody asks here. Where links lead takes ten times the room of the units.
        links = page.shown.links if self.has_links else {}
        return replace(page, shown=replace(page.shown, names={}, links=links))

    def keep(self, urls: Iterable[str], response: Response) -> None:
        """Keep *response* as the page of *urls*, the URLs of one chain of redirects."""
        page = self.read(response, response.url)
        if page is None:
            return
        # Of each class one page comes here, so that what its URLs have in common is no template.
        self._learn(page)
        for url in urls:
            self._drop(url)
            self._pages[url] = page
            self._size += _size(page)
        while self._size > KEPT:
            self._drop(next(iter(self._pages)))

    def _drop(self, url: str) -> None:
        page = self._pages.pop(url, None)
        if page is not None:
            self._size -= _size(page)

    def are_the_same(self, page: Fetched, keeper: str, key: Callable[[str], str]) -> bool:
        """Whether *page* equals the page that came for *keeper*; False if that page is not kept.

        *key* gives the key of a URL: links to URLs of one key count as one link.
        """
        there = self._pages.get(keeper)
        if there is None or page.shown is None or there.shown is None:
            return False
        return self._judge(page).compare(page, there).same is Same.SAME

    def _judge(self, page: Fetched) -> Judge:
        return self._judges.of(page.final_url)

    def _learn(self, page: Fetched) -> None:
        judge = self._judge(page)
        self._learned[judge] = learned = self._learned.get(judge, 0) + 1
        if learned <= _LEARNED:
            judge.learn(page)


class RareReadings(Readings):
    """`Readings` for crawls that compare few pages: pages are kept as they came, and parsed only when they are compared."""

    held = 400
    has_links = True

    def __init__(
        self, knowledge: Mapping[str, Knowledge] = MappingProxyType({}), ignore: Sequence[str] = ()
    ) -> None:
        super().__init__(knowledge, ignore)
        self._kept = PagesKept(ignore)

    def keep(self, urls: Iterable[str], response: Response) -> None:
        """Keep *response*, unparsed, as the page of *urls*, the URLs of one chain of redirects."""
        for url in urls:
            self._kept.keep(url, response)

    def are_the_same(self, page: Fetched, keeper: str, key: Callable[[str], str]) -> bool:
        """Whether *page* equals the page kept for *keeper*, which is parsed now; False if no page is kept."""
        there = self._kept.read(keeper)
        if there is None or page.shown is None or there.shown is None:
            return False
        judge = self._judge(page)
        judge.learn(there)
        return judge.compare(page, there, key=key).same is Same.SAME


def _size(page: Fetched) -> int:
    return _BESIDE + (0 if page.shown is None else len(page.shown.units))
