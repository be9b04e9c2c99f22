"""Decides when a form ends: after a row of looks, at pages that were drawn from what waits, that found nothing new.

A list whose pages link to the next ones has few URLs that wait, however long it is, and a row of its pages says nothing of what lies
behind them. So a page that goes on with a list, since most things that it shows are new to its form and to forms with fewer parameters,
is no look. As a form can show no more things than are known, it comes to an end.

The URLs of most forms are a sample by themselves. *Selections* show known things in another choice or order; all
facets of one host share a row, and so do all of its URLs that repeat others. There a thing that a page shows is a
look too.

A form does not end while no more URLs wait than the row has had pages: then the rest costs no more than the sample did.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

#: Pages of a form that go by unread, since most forms have no more; pages that each family of selections has in a row.
UNREAD = 12
#: How often one thing, and how many things of one page, count as looks; things that are remembered as alone.
_LOOKS_AT_A_THING, _LOOKS_AT_A_PAGE, _ALONE = 3, 3, 10_000
#: Things of one family that are remembered as shown.
_LISTED = 500_000
#: How many times longer a row must be if its pages have new words only, or if selections may show more.
_TWICE = 2


def pages_for(risk: float) -> int:
    """How many pages in a row without anything new show that at most a share *risk* of the rest has any, at 95 %."""
    return max(1, math.ceil(math.log(0.05) / math.log1p(-min(max(risk, 1e-6), 0.999))))


class Page(NamedTuple):
    """The gain of one page of a form."""

    value: float
    anything: bool = True  #: whether there is anything new on it at all
    items: int = 0  #: that were yielded of it, new or not
    words_only: bool = False  #: nothing but words is new on it, and the spider is not after words
    things: Iterable[int] = ()  #: that it shows, where it is a selection of things
    lists: bool = False  #: it goes on with a list: see `Shown.lists`


@dataclass(slots=True)
class Shown:
    """The things that pages of one family have shown, and what selections add: its facets, and URLs that repeat others."""

    pages: int = 0  #: of facets
    bringing: int = 0  #: pages of facets with something new
    shown: int = 0  #: things, each as often as a page shows it
    before: set[int] = field(default_factory=set)  #: what the last selection shows
    last: set[int] = field(default_factory=set)  #: what the last page shows, though it be no selection
    #: By thing, the fewest parameters with which it was shown.
    fewest: dict[int, int] = field(default_factory=dict)
    alone: set[int] = field(
        default_factory=set
    )  #: things that one selection brought, and no other has shown since

    def show(self, things: set[int], brought: set[int]) -> set[int]:
        """Take note that a selection shows *things*, of which those *brought* were unknown before. Returns the things
        that the last selection did not show, so without the frame that all pages share.
        """
        self.alone.difference_update(things - brought)
        if len(self.alone) < _ALONE:
            self.alone |= brought
        own, self.before = things - self.before, things
        self.shown += len(own)
        return own

    def lists(self, things: set[int], names: int, listed: set[int]) -> bool:
        """Take note that a page shows *things*. Returns whether the page goes on with a list: most things that the
        last page did not show are new to the form, and to all forms with fewer parameters. *names*: how many
        parameters the form has. *listed*: the things that the form has listed; the new ones are added.
        """
        own, self.last = things - self.last, things
        fresh = {thing for thing in own if self.fewest.get(thing, names) >= names} - listed
        if len(self.fewest) + len(listed) > _LISTED:
            return False
        self.fewest.update(dict.fromkeys(fresh, names))
        listed |= fresh
        return 2 * len(fresh) > len(own)

    def begin_again(self) -> None:
        """Forget all counts in which one thing may have counted twice."""
        self.pages = self.bringing = self.shown = 0
        self.before, self.alone = set(), set()

    def may_have_more(self, enough: int) -> bool:
        """Whether more than a few of all pages brought something, or selections to come may show unknown things. The
        share of things that one selection alone has shown estimates how many.
        """
        return self.bringing * UNREAD > self.pages or len(self.alone) * enough > self.shown


@dataclass(slots=True)
class Row:
    """How many looks at a host's waiting selections have found nothing new, since the last one that did."""

    looks: int = 0  #: at a page that was drawn, or at a thing that it shows
    counts: dict[int, int] = field(default_factory=dict)  #: looks at each thing

    def look(self, things: Iterable[int]) -> None:
        """Take note that a page drawn from what waits shows *things*, all known. A thing counts as a look, too, a few
        times.
        """
        self.looks += 1
        fresh = [thing for thing in things if self.counts.get(thing, 0) < _LOOKS_AT_A_THING]
        for thing in fresh[:_LOOKS_AT_A_PAGE]:
            self.counts[thing] = self.counts.get(thing, 0) + 1
            self.looks += 1

    def begin_again(self) -> None:
        """Begin another row, since something new has come."""
        self.looks = 0
        self.counts.clear()


@dataclass(slots=True)
class Queue:
    """The number of URLs that wait for their turn, of one form or of all forms that end together."""

    left: int = 0  #: URLs that wait
    came: int = 0  #: URLs that have begun to wait, or were fetched early, since something new was found
    went: int = 0  #: pages that were drawn since then
    is_over: bool = False  #: a row was long enough, and too many were left to fetch them all

    @property
    def is_nearly_empty(self) -> bool:
        """Whether the queue is empty after as many pages again as were drawn, if URLs come as fast as they have come."""
        return self.left + self.came <= self.went

    def begin_again(self) -> None:
        """Count anew, since something new was found."""
        self.came, self.went, self.is_over = 0, 0, False


@dataclass(slots=True)
class Pool:
    """A random sample of waiting URLs: of one form, of all facets of a family, or of all URLs of a host that repeat pages."""

    enough: int  #: pages in a row without anything new that end it; 0: nothing does
    barren: int = 0  #: pages in a row with nothing at all that is new
    unwanted: int = 0  #: pages in a row that bring nothing but words
    row: Row | None = None  #: of the host, where these are selections
    shown: Shown | None = None  #: by the family, where these are facets
    queue: Queue = field(default_factory=Queue)

    @property
    def is_done(self) -> bool:
        """Whether none of the waiting URLs is fetched any more."""
        return self.queue.is_over and self.has_enough

    @property
    def has_enough(self) -> bool:
        """Whether enough pages in a row, or enough looks, have found nothing new."""
        if self.row is None:
            return self.barren >= self.enough or self.unwanted >= _TWICE * self.enough
        if self.shown is not None and self.shown.may_have_more(self.enough):
            return self.barren >= _TWICE * self.enough
        return self.barren >= UNREAD and self.row.looks >= self.enough

    def came(self, page: Page, *, is_drawn: bool) -> None:
        """Take note of what *page* has brought. *is_drawn*: the page was drawn from what waits."""
        if not self.enough or (page.lists and not page.anything and self.row is None):
            return
        if self.shown is not None:
            self.shown.pages += 1
            self.shown.bringing += page.anything
        self.queue.went += is_drawn
        if page.words_only:
            self.unwanted += is_drawn
        else:
            self.unwanted = 0
            if page.anything:
                self.queue.begin_again()
        if page.anything:
            self.barren = 0
            if self.row is not None:
                self.row.begin_again()
        elif is_drawn:
            self.barren += 1
            if self.row is not None:
                self.row.look(page.things)
        if self.has_enough and not self.queue.is_nearly_empty:
            self.queue.is_over = True
