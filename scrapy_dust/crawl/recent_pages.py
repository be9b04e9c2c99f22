"""Keeps the latest pages of a crawl in a form that can be compared, so that no page is fetched again for that.

The two pages came at different times, and one may have changed in between. So equal readings prove that two pages are
the same; different readings prove nothing, and an inquiry decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from scrapy_dust.crawl.judges import Judges
from scrapy_dust.crawl.pages_kept import PagesKept, read_page
from scrapy_dust.page.compare import Same

if TYPE_CHECKING:
    from scrapy.http import Response

    from scrapy_dust.judge.answers import Fetched
    from scrapy_dust.page.knowledge import Knowledge


class Readings:
    """The latest pages of one crawl, which are parsed only when they are compared. *knowledge*: by site, what is known
    for comparing its pages; *ignore*: CSS selectors of elements that do not count.
    """

    def __init__(self, knowledge: Mapping[str, Knowledge], ignore: Sequence[str] = ()) -> None:
        self._ignore = ignore
        self._judges, self._kept = Judges(knowledge), PagesKept(ignore)

    def read(self, response: Response, url: str) -> Fetched | None:
        """The content of *response*, which came for *url*; None if only its bytes can be compared."""
        return read_page(response, url, self._ignore)

    def keep(self, urls: Iterable[str], response: Response) -> None:
        """Keep *response*, unparsed, as the page of *urls*, the URLs of one chain of redirects."""
        for url in urls:
            self._kept.keep(url, response)

    def page(self, url: str) -> Fetched | None:
        """The content of the page that came for *url*, parsed now; None if it is not kept."""
        return self._kept.read(url)

    def are_the_same(self, page: Fetched, keeper: str, key: Callable[[str], str]) -> bool:
        """Whether *page* equals the page kept for *keeper*; False if no page is kept.

        *key* gives the key of a URL: links to URLs of one key count as one link.
        """
        there = self._kept.read(keeper)
        if there is None or page.shown is None or there.shown is None:
            return False
        judge = self._judges.judge_for(page.final_url)
        judge.learn(there)
        return judge.compare(page, there, key=key).same is Same.SAME
