"""All that a crawl knows of traps: the turn of each URL, and what pages have brought. No I/O, and no Scrapy."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scrapy_dust.traps.budget import AT_ONCE, LINK, TURNS, Account, Budget
from scrapy_dust.traps.ending import Page
from scrapy_dust.traps.forms import Form, Forms
from scrapy_dust.traps.idle import Idle
from scrapy_dust.traps.novelty import MOST, UNKNOWN, Known, New, is_said
from scrapy_dust.traps.said import Said

#: Items whose digests are remembered; what is forgotten is new again.
_ITEMS = 500_000
#: Pages of which it is remembered what they say.
_SHOWN = 20_000
#: What a page says is worth so much at most where a spider makes items of some pages alone, and none of this one: less than its turn takes.
_UNWANTED = TURNS[0] / 2
#: Pages of a form that are all different, from which on one that another form has shown says nothing of it.
_DIFFERENT = 4

Reading = Callable[[], Said | None]


class Place(NamedTuple):
    """The site and the form of a URL, and its turn."""

    site: str
    url: str  #: its key
    form: Form
    account: Account
    turn: int

    @property
    def is_late(self) -> bool:
        """Whether the URL comes after all others."""
        return self.turn > AT_ONCE


@dataclass(slots=True)
class Arrived:
    """A page that the spider is working on."""

    site: str
    url: str  #: its key
    form: Form
    account: Account
    is_read: bool
    is_drawn: bool  #: from what waited
    follows_links: bool  #: the worth of the page's links is not known yet
    items: int = 0
    new_items: int = 0
    links: int = 0  #: links that are worth something
    leads_on: bool = False  #: it has a link to where something new may come
    hopes: bool = False  #: it has a link to where the spider may find what it is after
    is_same: bool = False  #: the page has the same text as the page whose URL it repeats
    things: set[int] = field(default_factory=set)  #: things that the page shows, if it is a selection
    brought: set[int] = field(default_factory=set)  #: those of `things` that were unknown before
    listed: set[int] = field(default_factory=set)  #: all things that the page shows, fetched before or not
    lists: bool = False  #: it goes on with a list


@dataclass(frozen=True, slots=True)
class Kept:
    """The findings about a site that are kept for the next crawl."""

    idle: tuple[str, ...] = ()  #: parameters
    forms: Mapping[str, float] = field(default_factory=dict)  #: credit of those that brought nothing


class Ledger:
    """All that one crawl knows of traps. *enough*: as in `Budget`."""

    def __init__(self, enough: int = 0) -> None:
        self.budget, self._caps = Budget(enough), enough > 0
        self._forms, self._idle, self._known = Forms(), Idle(*([1] if self._caps else [])), Known()
        self._items: dict[int, None] = {}
        #: By site, and all that a page says.
        self._shown: OrderedDict[tuple[str, int], None] = OrderedDict()

    def remember(self, sites: Mapping[str, Kept]) -> None:
        """Take over what an earlier crawl has kept."""
        self.budget.remember({form: credit for kept in sites.values() for form, credit in kept.forms.items()})
        for site, kept in sites.items():
            if kept.idle:
                self._idle.known(site, frozenset(kept.idle))

    def keep(self, site_of: Callable[[str], str | None]) -> dict[str, Kept]:
        """The findings about each site that are kept for the next crawl."""
        forms: dict[str, dict[str, float]] = {}
        for account in self.budget.waiting():
            if account.is_judged:
                site = site_of(account.form.family) or ""
                forms.setdefault(site, {})[account.form.text] = round(account.credit, 4)
        sites = {*forms, *self._idle.sites()}
        return {site: Kept(tuple(sorted(self._idle.of(site))), forms.get(site, {})) for site in sorted(sites)}

    def place(self, site: str, url: str, *, of_a_trap: bool = False, may_repeat: bool = True) -> Place:
        """The place of *url*, a key.

        *of_a_trap*: a page of a form that brought nothing links to it; *may_repeat*: the URL may repeat another one.
        """
        idle = self._idle.of(site)
        form = self._forms.of(url, idle)
        if idle and may_repeat and self._idle.was_fetched(site, url):
            form = form.again
        account = self.budget.linked(form, of_a_trap=of_a_trap)
        return Place(site, url, form, account, self.budget.turn(account))

    def arrived(self, place: Place, *, is_drawn: bool) -> Arrived:
        """Take note that the page of *place* has come."""
        is_read = self.budget.is_read(place.account)
        return Arrived(place.site, place.url, place.form, place.account, is_read, is_drawn, is_read)

    def yielded(self, page: Arrived, item: int) -> None:
        """Take note that the spider has made an item of *page*. *item*: the item's digest."""
        page.items += 1
        is_new = item not in self._items
        if page.account.shown is not None:
            page.listed.add(item)
        if page.account.is_selection:
            page.things.add(item)
            if is_new:
                page.brought.add(item)
        if is_new:
            page.new_items += 1
            self._items[item] = None
            if len(self._items) > _ITEMS:
                del self._items[next(iter(self._items))]

    def shows(self, page: Arrived, place: Place) -> None:
        """Take note that *page* links to the URL of *place*."""
        if page.account.shown is None:
            return
        is_again, first = place.form.is_again, place.form.first
        if first.is_kin_of(page.form.first):
            return
        account = self.budget.account(first) if is_again else place.account
        if account.own >= TURNS[0]:
            thing = self._idle.key(place.site, place.url)
            page.listed.add(thing)
            if page.account.is_selection and not is_again:
                page.things.add(thing)

    def leads(self, page: Arrived, place: Place) -> None:
        """Take note that *page* links to the URL of *place*, a key that nobody has requested before."""
        account = place.account
        if page.account.is_barren or place.form.is_kin_of(page.form):
            account.by_traps += 1
        else:
            account.by_others += 1
        if place.form.is_again or not self._idle.is_linked_first(place.site, place.url):
            return
        if page.things and (thing := self._idle.key(place.site, place.url)) in page.things:
            page.brought.add(thing)
        if self._caps:
            page.hopes |= self.budget.hopes(page.site, page.account, account)
        if page.leads_on and page.links * LINK >= MOST:
            return
        far = self.budget.leads(page.account, account)
        if far is None:
            return
        # What has brought nothing, and ends by the same row, is looked at in that row.
        page.leads_on |= account.worth > 0 or account.pool.queue is not page.account.pool.queue
        if page.links * LINK < MOST:
            page.links += self.budget.lends(page.account, account, far)
            # What ends a form goes by all links.
            page.follows_links = self._caps or page.links * LINK < MOST

    def done(self, page: Arrived, read: Reading) -> None:
        """Take note that the spider is done with *page*. *read* gives the page's text."""

        def said() -> int | None:
            return _all_of(read())

        idle = self._idle.of(page.site)
        self._idle.came(page.site, page.url, said)
        page.is_same = self._idle.fetched(page.site, page.url, said)
        if page.new_items and page.form.is_again:
            self._idle.differs(page.site, page.url)
        if self._idle.of(page.site) is not idle:
            self.budget.show_anew(page.form)
        elif page.account.is_selection and (shown := page.account.shown) is not None:
            page.things = shown.show(page.things, page.brought)
        page.lists = page.account.lists(page.listed)
        self.budget.came(page.site, page.account, self._brought(page, read), is_drawn=page.is_drawn)

    def gone(self, site: str, url: str, *, is_drawn: bool) -> None:
        """Take note that *url* has no page."""
        account = self.budget.account(self._forms.of(url, self._idle.of(site)))
        self.budget.came(site, account, Page(0.0, anything=False, words_only=True), is_drawn=is_drawn)

    def _brought(self, page: Arrived, read: Reading) -> Page | None:
        """The gain of *page*; None if the page says nothing about its form. *read* gives the page's text."""
        are_chosen = self.budget.items_are_chosen(page.site)
        if page.new_items and (are_chosen or not page.is_read):
            return Page(MOST, items=page.items)
        if not page.is_read:
            # Where items are known, the next pages are read.
            return Page(0.0, items=page.items) if are_chosen and page.items else None
        if page.leads_on and page.links * LINK >= MOST:
            return Page(0.0, items=page.items)
        new = self._new(page, read, are_chosen=are_chosen)
        if new is None:
            return None
        anything = new.anything or bool(page.new_items or page.leads_on)
        value = min(new.value, _UNWANTED) if are_chosen else new.value
        more = new.has_media or page.new_items or page.links or page.hopes
        words_only = not more and self._is_not_wanted(page)
        if page.lists and page.account.pool.row is None:
            value = max(value, TURNS[0])
        return Page(value, anything or page.hopes, page.items, words_only, page.things, page.lists)

    def _is_not_wanted(self, page: Arrived) -> bool:
        """Whether the spider is after items, and the form of *page*, which feeds itself, has none."""
        account = page.account
        return not account.has_items and account.feeds_itself and self.budget.items_are_all(page.site)

    def _new(self, page: Arrived, read: Reading, *, are_chosen: bool) -> New | None:
        """The news on *page*. If *page* repeats or reorders other pages, only new items and links to them count."""
        if page.form.is_again:
            return New(0.0, anything=not page.is_same)
        if page.account.is_facet and are_chosen:
            return New(0.0, anything=False)
        said = read()
        if said is None:
            return UNKNOWN
        if self._is_wall(page, said):
            return None
        new = self._known.new(page.form.family, page.url, said)
        # All that its first pages say is new, which says nothing.
        return None if page.account.is_suspect and self._known.is_cold(page.form.family) else new

    def _is_wall(self, page: Arrived, said: Said) -> bool:
        """Whether *page* is a wall: its text was seen before, in a form whose pages mostly have texts of their own."""
        whole, account = _all_of(said), page.account
        assert whole is not None
        is_new = (page.site, whole) not in self._shown
        if is_new:
            self._shown[page.site, whole] = None
            if len(self._shown) > _SHOWN:
                self._shown.popitem(last=False)
        if not is_new and account.different > max(_DIFFERENT, account.read / 2):
            return True
        account.different += is_new
        account.read += 1
        return False


def _all_of(said: Said | None) -> int | None:
    """A hash of all words in *said*, except ids and tokens."""
    return None if said is None else hash((*filter(is_said, said.words), *said.media))
