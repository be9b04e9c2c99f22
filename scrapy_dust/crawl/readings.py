"""What the pages of a crawl said, kept for a while: two of them are compared without asking for either again.

Both came within one crawl, so that one may have changed before the other: that they are the same can be told here,
that they are not is an inquiry's to say.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.http import TextResponse

from scrapy_dust.crawl.inquiries import read
from scrapy_dust.dust.judging import Fetched, Judge
from scrapy_dust.dust.outcomes import Outcome

if TYPE_CHECKING:
    from scrapy.http import Response

#: Pages kept, the latest: some 20 MB.
KEPT = 4000
#: Pages of a host that its template is learned from.
_LEARNED = 60


class Readings:
    """Of one crawl."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, Fetched] = (
            OrderedDict()
        )  # by the URL that was asked for, the oldest first
        self._judges: dict[str, Judge] = {}  # by host
        self._learned: dict[str, int] = {}

    def read(self, response: Response, url: str) -> Fetched | None:
        """What *response* said, which came for *url*; None: only its bytes can tell."""
        return read(response, url) if isinstance(response, TextResponse) else None

    def keep(self, urls: Iterable[str], response: Response) -> None:
        """*response* is what came for *urls*, of which the one redirected to the other."""
        page = self.read(response, response.url)
        if page is None:
            return
        # Of each class one page comes here, so that what its URLs have in common is no template.
        self._learn(page)
        for url in urls:
            self._pages.pop(url, None)
            self._pages[url] = page
        while len(self._pages) > KEPT:
            del self._pages[next(iter(self._pages))]

    def are_the_same(self, page: Fetched, keeper: str) -> bool:
        """Whether *page* is what came for *keeper*. Not, where that is not known."""
        there = self._pages.get(keeper)
        return there is not None and self._judge(page).compare(page, there) is Outcome.SAME

    def _judge(self, page: Fetched) -> Judge:
        return self._judges.setdefault(urlsplit(page.final_url).netloc, Judge())

    def _learn(self, page: Fetched) -> None:
        host = urlsplit(page.final_url).netloc
        self._learned[host] = learned = self._learned.get(host, 0) + 1
        if learned <= _LEARNED:
            self._judge(page).learn(page)
