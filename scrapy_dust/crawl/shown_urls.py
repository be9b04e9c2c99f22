"""The URLs of all sites of a crawl that have shown pages, in bounded number, to get new keys when rules change."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence

#: URLs of all sites; of others a class is fetched once more.
REMEMBERED = 500_000

Made = Callable[[str], None]


class ShownUrls:
    """The URLs of one crawl that have shown pages.

    The oldest URLs of a site are forgotten first, beginning with the site that was seen longest ago.
    """

    def __init__(self, most: int = REMEMBERED) -> None:
        self._most = most
        self._count = 0
        self._urls: OrderedDict[str, deque[str]] = OrderedDict()
        self._work: OrderedDict[str, Iterator[None]] = OrderedDict()

    def __len__(self) -> int:
        return self._count

    def add(self, site: str, url: str) -> None:
        """Remember that *url* of *site* has shown a page."""
        self._urls.setdefault(site, deque()).append(url)
        self._urls.move_to_end(site)
        self._count += 1
        while self._count > self._most:
            name, oldest = next(iter(self._urls.items()))
            oldest.popleft()
            self._count -= 1
            if not oldest:
                del self._urls[name]

    def by_site(self) -> Mapping[str, Sequence[str]]:
        """The remembered URLs of each site."""
        return self._urls

    def make_again(self, site: str, make: Made) -> None:
        """Call *make* with each URL of *site*, while `go_on` has time. A run under way for *site* begins anew."""
        self._work[site] = self._make_each(list(self._urls.get(site, ())), make)

    def go_on(self, seconds: float) -> None:
        """Call the functions that `make_again` was given, with one URL after the other, for at most *seconds* seconds."""
        until = time.monotonic() + seconds
        while self._work and time.monotonic() < until:
            site = next(iter(self._work))
            if next(self._work[site], self) is self:
                del self._work[site]

    @property
    def is_made(self) -> bool:
        """Whether all URLs have been given to the functions that `make_again` was asked to call."""
        return not self._work

    @staticmethod
    def _make_each(urls: list[str], make: Made) -> Iterator[None]:
        for url in urls:
            make(url)
            yield
