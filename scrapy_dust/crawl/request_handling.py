"""Names how the spider handles the answer to a request: two requests share a class only if these names are equal.

``DUST_CLASS_BY`` lists what counts beside the key: callback, ``cb_kwargs``, keys of meta. Headers and cookies count
too (`request_digests`), and so do the `Rule`s of a `CrawlSpider`. A request whose callback cannot be compared, such as a closure, or
that hands an item to its callback, is handled like no other request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING

from scrapy import Spider
from scrapy.spiders import CrawlSpider

from scrapy_dust.crawl.plain_requests import method_of
from scrapy_dust.crawl.requests import ALONE, ASKED

if TYPE_CHECKING:
    from scrapy import Request

#: The method that Scrapy calls for requests without a callback.
_DEFAULT = "parse"


class Handling:
    """Names how the spider of one crawl handles requests. *spider* may not exist yet."""

    def __init__(self, by: Sequence[str], spider: Callable[[], Spider | None]) -> None:
        self._spider = spider
        self._by_callback = "callback" in by
        self._is_by_rule: bool | None = None
        #: The names of spider methods, by callback and errback.
        self._names: dict[tuple[object, object], str] = {}
        self._codes: dict[CodeType, int] = {}  #: of functions that are no methods

    def name(self, request: Request) -> str | None:
        """A name that is equal for requests that are handled alike; None if *request* is like no other."""
        asked = request.meta.get(ASKED)
        if asked == ALONE:
            return None
        name = self._callback_names(request) if self._by_callback else ""
        if name is not None and asked is not None:
            name = f"{name} asked {asked}"
        if self._is_by_rule is None:
            self._is_by_rule = isinstance(self._spider(), CrawlSpider)
        if name is None or not self._is_by_rule:
            return name
        try:
            return json.dumps([name, request.meta.get("rule")])
        except (TypeError, ValueError, RecursionError):
            return None

    def _callback_names(self, request: Request) -> str | None:
        """A name for the callback and errback of *request*; None if one of them cannot be compared."""
        both = request.callback, request.errback
        try:
            name = self._names.get(both)
        except TypeError:  # a callable that cannot be hashed
            return None
        if name is None:
            names = [
                self._function_name(both[0], self._default_callback_name()),
                self._function_name(both[1], ""),
            ]
            if None in names:
                return None
            name = " ".join(map(str, names))
            if all(one is None or getattr(one, "__self__", None) is self._spider() for one in both):
                self._names[both] = name
        return name

    def _default_callback_name(self) -> str:
        """The name of the spider's method that Scrapy calls for a request without callback."""
        # A CrawlSpider's does something else than `parse`.
        spider = self._spider()
        return _DEFAULT if spider is None or type(spider)._parse is Spider._parse else "_parse"

    def _function_name(self, function: object, default: str) -> str | None:
        """The name of *function*; None if the name may stand for another function too, such as a closure's."""
        if function is None:
            return default
        if isinstance(function, partial):
            return None
        owner = getattr(function, "__self__", None)
        if owner is not None and owner is self._spider():
            return str(getattr(function, "__name__", "")) or None
        given = method_of(function, self._spider()) if callable(function) else None
        if given is not None:  # the spider was given it, once for all requests
            return given
        if not isinstance(function, FunctionType) or function.__defaults__ or function.__kwdefaults__:
            return None
        if not all(self._holds_spider(cell) for cell in function.__closure__ or ()):
            return None
        return f"function {self._codes.setdefault(function.__code__, len(self._codes))}"

    def _holds_spider(self, cell: CellType) -> bool:
        """Whether *cell*, a variable of a closure, holds the spider."""
        try:
            return cell.cell_contents is self._spider()
        except ValueError:  # nothing is in it yet
            return False
