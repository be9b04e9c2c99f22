"""Requests that ask not to be filtered, as start requests do: a dupefilter is not asked about them, and so does
not know them when they are linked again.

What is linked again is left out only where its page would go to the callback that has had it. A spider that
asks for its start page once more after a login, and gives it to another callback, gets it once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Spider

if TYPE_CHECKING:
    from scrapy import Request


class Unfiltered:
    """Of one crawl: by key, the callbacks that such requests had."""

    def __init__(self, callbacks: dict[bytes, tuple[str, ...]] | None = None) -> None:
        self.callbacks = {} if callbacks is None else callbacks

    def add(self, key: bytes, request: Request, spider: Spider) -> bool:
        """Whether it is the first of its key with its callback."""
        callback = _callback(request, spider)
        if callback is None or callback in self.callbacks.get(key, ()):
            return False
        self.callbacks[key] = (*self.callbacks.get(key, ()), callback)
        return True

    def had(self, key: bytes, request: Request, spider: Spider) -> bool:
        return key in self.callbacks and _callback(request, spider) in self.callbacks[key]


def _callback(request: Request, spider: Spider) -> str | None:
    """The name of the spider's method that gets the page; None where two of that kind cannot be compared."""
    if request.cb_kwargs:
        return None
    if request.callback is None:
        # What Scrapy calls then. A CrawlSpider's does something else than `parse`.
        return "parse" if type(spider)._parse is Spider._parse else "_parse"
    if getattr(request.callback, "__self__", None) is not spider:
        return None
    name: str | None = getattr(request.callback, "__name__", None)
    return name
