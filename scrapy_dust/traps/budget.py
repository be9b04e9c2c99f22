"""Decides when URLs of a form are fetched, by what the form's pages have brought.

A form begins with credit. Each of its pages costs some credit and adds what the page brought: new texts, items that
were not yielded before, links to pages of other families that are worth something themselves. A form without credit
is fetched after all others, and the later, the longer it has brought nothing. Anything that it brings then is credit
again.

A form with the parameters of another form of its family and some more is a *facet*: it shows the same things in
another selection or order. It begins with little credit, with none if one of the forms below it brought nothing, and
comes after all others unless each of these has brought something. So combinations of more parameters come after all
of fewer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from scrapy_dust.traps.forms import ENDLESS, Form

#: Of the credit of a form, what one page takes; and what it begins with: as any form, as a facet, as one of URLs that repeat others, and
#: as one that only pages of a trap link to.
_PART, CREDIT, OF_A_FACET, _OF_AGAIN, _OF_A_TRAP = 1 / 8, 4.0, 2.0, 0.5, 0.5
#: Credit below which a form comes after all others, after those, and after those.
TURNS = (1.0, 1 / 8, 1 / 64)
#: When a URL has its turn: at once, or after all of which more is known; what brought nothing comes later than that.
AT_ONCE, AFTER, BARREN = 0, 1, 2
#: Pages of a form that go by unread: most forms have no more.
UNREAD = 12
#: Pages by which a form shows what a facet of it may be worth, and those of a facet that are asked for before any has come.
_SHOWN, _ASKED = 3, 6
#: How often one thing, and how many things of one page, count as looks; things that are remembered as alone.
_LOOKS_AT_A_THING, _LOOKS_AT_A_PAGE, _ALONE = 3, 3, 10_000
#: So much longer is a row of pages of which only their words are new, and one of selections that brought things which no other shows.
_TWICE = 2
#: What a link is worth that leads to something new.
LINK = 4.0
#: Forms that lead to forms that lead to something new are worth something, up to so many of them.
FAR = 3
#: One of so many pages of a site may be of a form that has no turn yet, to see whether it brings something again.
_PROBED = 32

#: URLs that each page of a form must bring for it to feed itself. A chain has one.
_GROWS = 1.5
#: Of so many pages, a spider makes items of one at least where items are all that it is after.
_SHARE = 8
#: The share of pages from which on a spider makes an item of each.
_EACH = 0.95

#: Forms of a family, and of all.
_OF_A_FAMILY, _OF_ALL = 256, 50_000


@dataclass(slots=True)
class Shown:
    """The things that the selections of one family have shown: selections are its facets, and URLs that repeat others."""

    shown: int = 0  #: things, each as often as a page shows it
    before: set[int] = field(default_factory=set)  #: what the last page shows
    alone: set[int] = field(
        default_factory=set
    )  #: what one selection brought, and no other one has shown since

    def show(self, things: set[int], brought: set[int]) -> set[int]:
        """Take note that a selection shows *things*; *brought* are the new ones among them. Returns the things that the last
        selection did not show: so the frame of all pages does not count.
        """
        self.alone.difference_update(things - brought)
        if len(self.alone) < _ALONE:
            self.alone |= brought
        own, self.before = things - self.before, things
        self.shown += len(own)
        return own

    def may_have_more(self, enough: int) -> bool:
        """Whether there may be more things of the kind that one selection alone shows: the share of new things to expect is
        the share of things that only one selection has shown (Good and Turing).
        """
        return len(self.alone) * enough > self.shown


@dataclass(slots=True)
class Row:
    """How often what waits on a host, selections of things, was looked at since something new came."""

    looks: int = 0  #: at a page that was drawn, or at a thing that it shows
    counts: dict[int, int] = field(default_factory=dict)  #: looks at each thing

    def look(self, things: Iterable[int]) -> None:
        """Take note that a page that was drawn shows *things*, all known. Each of them counts a few times as a page does."""
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
class Pool:
    """A random sample of waiting URLs: of one form, of all facets of a family, or of all URLs of a host that repeat pages."""

    enough: int  #: pages in a row without anything new that end it; 0: nothing does
    barren: int = 0  #: pages in a row with nothing at all that is new
    unwanted: int = 0  #: pages in a row that bring nothing but words
    pages: int = 0  #: that were read
    bringing: int = 0  #: of these, with something new
    row: Row | None = None  #: of the host, where these are selections
    shown: Shown | None = None  #: by the family, where these are facets

    @property
    def is_done(self) -> bool:
        """Whether nothing comes any more."""
        if not self.enough:
            return False
        if self.row is None:
            return self.barren >= self.enough or self.unwanted >= _TWICE * self.enough
        if self.shown is not None and (self._brings() or self.shown.may_have_more(self.enough)):
            return self.barren >= _TWICE * self.enough
        return self.barren >= UNREAD and self.row.looks >= self.enough

    def _brings(self) -> bool:
        """Whether more than a few of all pages brought something."""
        return self.bringing * UNREAD > self.pages

    def draw(self, page: Page) -> None:
        """Take note of the gain of *page*."""
        self.pages += 1
        self.bringing += page.anything
        if not page.words_only:
            self.unwanted = 0
        elif page.is_drawn:
            self.unwanted += 1
        if page.anything:
            self.barren = 0
            if self.row is not None:
                self.row.begin_again()
        elif page.is_drawn:
            self.barren += 1
            if self.row is not None:
                self.row.look(page.things)


@dataclass(slots=True)
class Account:
    """The credit and the history of one form."""

    form: Form
    credit: float = CREDIT
    own: float = OF_A_FACET  #: the same without what links are worth
    far: int = FAR  #: forms between it and what is new, as its last links had it
    pages: int = 0
    promised: int = 0  #: links in a row to forms that have brought nothing yet
    asked: int = 0  #: sent for, and no page yet
    pause: int = 0  #: so many of its pages were not read, the last time
    unread: int = 0  #: so many of the next are not read
    read: int = 0  #: pages that were read
    different: int = 0  #: of these, that were unlike all before
    is_facet: bool = False
    is_suspect: bool = False  #: it is read from the first page on
    is_linked: bool = False  #: some page links to it
    otherwise: float = 0.0  #: where only pages of forms that brought nothing link to it: the credit that it has once another does
    pool: Pool = field(default_factory=lambda: Pool(0))
    shown: Shown | None = (
        None  #: by its family, where it is a selection: a facet, or a form of URLs that repeat others
    )
    has_items: bool = False  #: the spider made items of one of its pages
    by_traps: int = 0  #: URLs that pages like its own, or pages that bring nothing, were the first to link to
    by_others: int = 0  #: URLs that other pages were the first to link to

    @property
    def turn(self) -> int:
        """The turn of the form's URLs: `AT_ONCE` if they are fetched like any other, or a number: the larger it is, the later they
        come.
        """
        if self.credit >= TURNS[0]:
            return AT_ONCE
        return AFTER + sum(self.credit < limit for limit in TURNS)

    @property
    def is_capped(self) -> bool:
        """Whether no more URLs of the form are fetched."""
        if not self.pool.is_done:
            return False
        return self.turn >= BARREN or (self.is_facet and not self.is_judged)

    @property
    def feeds_itself(self) -> bool:
        """Whether more of its URLs wait than come, and nearly all from pages like its own or pages that bring nothing."""
        return self.by_traps > max(_GROWS * self.pages, UNREAD * self.by_others)

    @property
    def is_judged(self) -> bool:
        """Whether enough pages of the form have come to judge the form."""
        return self.pages >= (_SHOWN if self.is_suspect else UNREAD)


class Page(NamedTuple):
    """The gain of one page of a form."""

    value: float
    anything: bool = True  #: whether there is anything new on it at all
    items: int = 0  #: that were yielded of it, new or not
    is_drawn: bool = False  #: it was drawn from what waits
    words_only: bool = (
        False  #: what is new on it are words at most, and words are not what the spider is after
    )
    things: Iterable[int] = ()  #: that it shows, where it is a selection of things


@dataclass(slots=True)
class _Site:
    pages: int = 0
    with_items: int = 0
    early: int = 0  #: pages that did not come last
    early_with_items: int = 0
    probes: int = 0


@dataclass(slots=True)
class _Family:
    of_facets: Pool
    forms: dict[tuple[str, ...], Account] = field(default_factory=dict)


class Budget:
    """The accounts of all forms of one crawl. *enough*: pages in a row without anything new that end a form; 0: never."""

    def __init__(self, enough: int = 0) -> None:
        self._enough = enough
        self._families: OrderedDict[str, _Family] = OrderedDict()
        self._count = 0
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._of_again: dict[str, Pool] = {}  #: by host, what repeats other pages
        self._rows: dict[str, Row] = {}  #: by host
        self._shown: dict[str, Shown] = {}  #: by family
        self._before: dict[
            str, float
        ] = {}  #: credit of forms, by their texts, at the end of an earlier crawl

    def remember(self, forms: dict[str, float]) -> None:
        """Take over the forms that brought nothing in an earlier crawl."""
        self._before = forms

    def account(self, form: Form) -> Account:
        """The account of *form*, opened now if there is none."""
        family = self._families.get(form.family)
        if family is None:
            family = self._families[form.family] = _Family(Pool(self._enough))
        else:
            self._families.move_to_end(form.family)
        names = form.names
        account = family.forms.get(names)
        if account is None:
            if len(family.forms) >= _OF_A_FAMILY:
                names = (ENDLESS,)
            account = family.forms.get(names) or self._open(family, Form(form.family, names))
        return account

    def linked(self, form: Form, *, of_a_trap: bool) -> Account:
        """The account of *form*, to which a page links.

        A form that only pages of a trap link to has the credit of a trap, until another page links to it, or it
        brings something.
        """
        account = self.account(form)
        if not account.is_linked:
            account.is_linked = True
            if of_a_trap and not account.pages:
                account.is_suspect, account.otherwise = True, account.credit
                account.credit = account.own = min(account.credit, _OF_A_TRAP)
        elif account.otherwise and not of_a_trap:
            if not account.is_judged:
                account.credit = max(account.credit, account.otherwise)
                account.own = min(OF_A_FACET, account.credit)
            account.otherwise = 0.0
        return account

    def turn(self, account: Account) -> int:
        """When a URL of the form of *account* has its turn."""
        if account.is_facet and not account.is_judged and account.turn == AT_ONCE:
            below = [one for one in self._below(account) if one.form.names]
            brought = all(one.is_judged and one.credit >= OF_A_FACET for one in below)
            may_ask = account.pages + account.asked < _ASKED and not account.pool.is_done
            return AT_ONCE if brought and may_ask else AFTER
        return account.turn

    def may_probe(self, site: str) -> bool:
        """Whether a URL of *site* may be fetched before its turn, to see whether its form brings something again."""
        of = self._site(site)
        return of.pages // _PROBED > of.probes

    def probe(self, site: str) -> None:
        """Count a URL of *site* that is fetched before its turn."""
        self._site(site).probes += 1

    def items_are_chosen(self, site: str) -> bool:
        """Whether the spider makes items of only some pages of *site*. An item from every page would say nothing
        about a page.
        """
        of = self._site(site)
        return 0 < of.with_items < max(UNREAD, _EACH * of.pages)

    def items_are_all(self, site: str) -> bool:
        """Whether the spider looks for items on *site*: it has made items of many pages, not counting pages that come last."""
        of = self._site(site)
        return UNREAD <= of.early_with_items and of.early <= _SHARE * of.early_with_items

    def sent(self, account: Account) -> None:
        """Take note that a URL of the form is being fetched."""
        account.asked += 1

    def is_read(self, account: Account) -> bool:
        """Whether the page that has come should be read. Ask once for each page."""
        if account.unread:
            account.unread -= 1
            return False
        return account.is_suspect or account.pages >= UNREAD

    def came(self, site: str, account: Account, page: Page | None, *, is_drawn: bool = False) -> None:
        """Take note that a page of the form of *account* has come. *page*: what the page brought; None if it was not
        read.
        """
        account.asked = max(0, account.asked - 1)
        account.pages += 1
        of = self._site(site)
        of.pages += 1
        has_items = page is not None and page.items > 0
        of.with_items += has_items
        if not is_drawn:
            of.early += 1
            of.early_with_items += has_items
        if page is not None:
            account.has_items |= has_items
            self._book(account, page)

    def leads(self, giver: Account, form: Form) -> int | None:
        """How many links lie between a page of *giver* and new content, by way of a new URL of *form*; None if no such
        content is known.
        """
        if form.is_kin_of(giver.form):
            return None
        account = self.account(form)
        far = 0 if account.own >= TURNS[0] else account.far + 1
        return None if account.turn or far >= FAR else far

    def lends(self, giver: Account, form: Form, far: int) -> bool:
        """Whether *giver*'s credit pays for a link to *form*, at a distance of *far*. Forms without results are lent
        to only some times in a row.
        """
        account = self.account(form)
        has_brought = account.own > OF_A_FACET if far == 0 else not account.promised
        if has_brought:
            giver.promised = 0
        else:
            giver.promised += 1
            if giver.promised > UNREAD:
                return False
        giver.far = far
        giver.credit += LINK * _PART
        return True

    def waiting(self) -> Iterator[Account]:
        """The accounts of forms that come after all others."""
        for family in self._families.values():
            for account in family.forms.values():
                if account.turn >= BARREN:
                    yield account

    def _book(self, account: Account, page: Page) -> None:
        account.own += (page.value - account.own) * _PART
        account.credit += (page.value - account.credit) * _PART
        if page.value >= TURNS[0]:
            account.promised = 0
            account.pause = min(max(_SHOWN, account.pages // UNREAD), account.pause * 2 + 1)
            account.unread = account.pause
        else:
            account.pause = account.unread = 0
        account.pool.draw(page)

    def _open(self, family: _Family, form: Form) -> Account:
        account = Account(form, pool=Pool(self._enough))
        below = list(_below(family, form))
        known = self._before.get(form.text)
        if below:
            least = min((one.credit for one in below if one.is_judged), default=CREDIT)
            account.is_facet, account.credit = True, min(OF_A_FACET, least)
            if len(form.names) > 1:
                account.pool = family.of_facets
        if known is not None:
            account.credit = min(account.credit, known)
        if form.is_again:
            account.pool = self._of_again.setdefault(_host_of(form), Pool(self._enough))
            account.credit = min(account.credit, _OF_AGAIN)
        if self._enough and (below or form.is_again):
            self._share(account)
        account.own = min(OF_A_FACET, account.credit)
        account.is_suspect = bool(below) or form.is_again or known is not None or form.is_endless
        family.forms[form.names] = account
        self._count += 1
        self._forget()
        return account

    def _share(self, account: Account) -> None:
        """Let *account*, of a selection, end by what all selections of its host show."""
        form = account.form
        account.shown = self._shown.setdefault(form.first.family, Shown())
        if form.is_again or len(form.names) > 1:
            account.pool.row = self._rows.setdefault(_host_of(form), Row())
            account.pool.shown = None if form.is_again else account.shown

    def _below(self, account: Account) -> Iterable[Account]:
        family = self._families.get(account.form.family)
        return () if family is None else _below(family, account.form)

    def _forget(self) -> None:
        while self._count > _OF_ALL and len(self._families) > 1:
            _, forgotten = self._families.popitem(last=False)
            self._count -= len(forgotten.forms)

    def _site(self, site: str) -> _Site:
        found = self._sites.get(site)
        if found is None:
            found = self._sites[site] = _Site()
            if len(self._sites) > _OF_ALL:
                self._sites.popitem(last=False)
        return found


def _host_of(form: Form) -> str:
    return form.family.partition("://")[2].partition("/")[0]


def _below(family: _Family, form: Form) -> Iterator[Account]:
    """The accounts of the forms in *family* whose parameters are a part of those of *form*."""
    if form.names:
        names = frozenset(form.names)
        for other, account in family.forms.items():
            if len(other) < len(names) and names.issuperset(other):
                yield account
