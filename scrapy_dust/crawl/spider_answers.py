"""Answers, and what the spider makes of each: an item, a new request, an old one, or nothing.

`Answer` holds all that is known of an answer that is with the spider. Nothing is decided before all is known: the callback
has ended, its items have come out of the pipelines, and its requests have been judged by the dupefilter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

from scrapy import Request
from scrapy.http import Response

#: Successful answers that show no page: accepted, other than asked for, empty, and a part.
_NO_PAGES = frozenset({202, 204, 205, 206})

#: The most requests of one callback that are looked at. A callback that yields more has got a page of its own.
_ASKED = 200


def shows_page(response: Response) -> bool:
    """Whether *response* may show the page that was asked for."""
    if not 200 <= response.status < 300 or response.status in _NO_PAGES or "dataloss" in response.flags:
        return False
    method = response.request.method if response.request is not None else "GET"
    return method == "HEAD" or (bool(response.body) and not _is_cut_short(response))


def _is_cut_short(response: Response) -> bool:
    """Whether the body is shorter than announced. The flag ``partial`` alone may say that no length was announced."""
    if "partial" not in response.flags and "download_stopped" not in response.flags:
        return False
    announced = response.headers.get("Content-Length")
    return announced is not None and announced.isdigit() and len(response.body) < int(announced)


class Made(IntEnum):
    """The best of what a callback has made of an answer."""

    NOTHING = 0  #: nothing, or requests for the very page that the answer should show
    OLD = 1  #: requests, all of which were asked for before
    NEW = 2  #: a request that was not asked for before, or more than is looked at
    ITEM = 3  #: an item that a pipeline has not dropped


@dataclass(slots=True)
class Answer:
    """The state of an answer that the spider has got. Each method takes note of one event."""

    is_watched: bool  #: `middlewares_passed` is called with all that leaves the spider middlewares
    requests: list[Request] = field(default_factory=list)  #: that the callback yielded, the first of them
    asks_again: bool = False  #: the callback has asked for the same URL, which is not to be filtered
    has_more: bool = False  #: it has yielded an item that is not watched, or more requests than are looked at
    has_item: bool = False  #: an item that is not watched, or one that has come out of the pipelines
    is_new: bool = False  #: one of its requests was let through
    number: int = 0  #: by which its requests name it; 0: none does
    unjudged: int = 0  #: requests that have left the spider middlewares and are not judged yet
    items: int = 0  #: items that have left them
    came_out: int = 0  #: of these: that have come out of the pipelines, or were dropped there
    is_over: bool = False  #: the callback has ended well
    is_through: bool = False  #: all that it has yielded has left the spider middlewares

    def add_request(self, request: Request) -> None:
        """Count *request*, which the callback has yielded."""
        if len(self.requests) < _ASKED:
            self.requests.append(request)
        else:
            self.has_more = True

    def request_judged(self, *, is_new: bool) -> None:
        """Count one of the requests as let through by the dupefilter (*is_new*), or as filtered."""
        self.unjudged -= 1
        self.is_new |= is_new

    def item_ended(self, *, is_lost: bool) -> None:
        """Count an item that has come out of the pipelines, or that a pipeline has dropped (*is_lost*)."""
        self.came_out += 1
        self.has_item |= not is_lost

    @property
    def has_any(self) -> bool:
        """Whether the callback has yielded anything so far."""
        return bool(self.has_more or self.requests or self.items)

    @property
    def is_known(self) -> bool:
        """Whether nothing more can change what the spider has made of the answer."""
        is_judged = self.unjudged <= 0 or self.is_new or self.has_more or self.has_item
        has_ended = self.is_over and (self.is_through or not self.is_watched)
        return has_ended and is_judged and self.came_out >= self.items

    def best_made(self, leads_on: Callable[[Request], bool]) -> Made | None:
        """The best of what the spider has made of the answer; None if the spider has only asked for the page again.
        *leads_on*: whether a request can bring another page than the answer's own.
        """
        if self.has_item:
            return Made.ITEM
        if self.has_more:
            return Made.NEW
        if any(map(leads_on, self.requests)):
            return Made.NEW if self.is_new or not self.is_watched else Made.OLD
        return None if self.asks_again else Made.NOTHING


#: A callback, and what it has made of a page: it may turn out to make more of others.
Doubt = tuple[object, Made]


class Callbacks:
    """Remembers the best that each callback has made of any answer."""

    def __init__(self) -> None:
        self._best: dict[object, Made] = {}

    def note_best(self, callback: object, made: Made) -> Made:
        """Remember the best that *callback* has *made* of an answer. Returns the best that it had made before."""
        before = self._best.get(callback, Made.NOTHING)
        self._best[callback] = max(before, made)
        return before

    def has_made_more(self, callback: object, made: Made) -> bool:
        """Whether *callback* made more of other answers: items if *made* is old requests, anything if it is nothing."""
        best = self._best.get(callback, Made.NOTHING)
        return best is Made.ITEM if made is Made.OLD else made is Made.NOTHING and best > made
