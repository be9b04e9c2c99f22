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

from scrapy_dust.traps.ending import UNREAD, Page, Pool, Queue, Row, Shown
from scrapy_dust.traps.forms import ENDLESS, Form

#: Of the credit of a form, what one page takes; and what it begins with: as any form, as a facet, as one of URLs that repeat others, and
#: as one that only pages of a trap link to.
_PART, CREDIT, OF_A_FACET, _OF_AGAIN, _OF_A_TRAP = 1 / 8, 4.0, 2.0, 0.5, 0.5
#: Limits of credit: a form below the first comes after all others, and later still below the second and the third.
TURNS = (1.0, 1 / 8, 1 / 64)
#: When a URL has its turn: at once, or after all of which more is known; what brought nothing comes later than that.
AT_ONCE, AFTER, BARREN = 0, 1, 2
#: Pages by which a form shows what a facet of it may be worth, and those of a facet that are asked for before any has come.
_SHOWN, _ASKED = 3, 6
#: What a link is worth that leads to something new.
LINK = 4.0
#: Forms that lead to forms that lead to something new are worth something, up to so many of them.
FAR = 3
#: One of so many pages of a site may be of a form that has no turn yet, to see whether it brings something again.
_PROBED = 32

#: Links from a form that led to nothing.
_NOWHERE = 100
#: URLs that each page of a form must bring for it to feed itself. A chain has one.
_GROWS = 1.5
#: A spider that is after nothing but items makes items of at least one in so many pages.
_SHARE = 8
#: The share of pages with items from which on the spider counts as making items of every page.
_EACH = 0.95

#: Forms of one family, and forms of all families, that are remembered.
_OF_A_FAMILY, _OF_ALL = 256, 50_000


@dataclass(slots=True)
class Account:
    """The credit and the history of one form."""

    form: Form
    credit: float = CREDIT
    own: float = OF_A_FACET  #: the credit without what links are worth
    far: int = FAR  #: forms between this one and new content, by its last links
    pages: int = 0
    promised: int = 0  #: links in a row to forms that have brought nothing yet
    asked: int = 0  #: requests whose pages have not come yet
    pause: int = 0  #: how many of its pages were left unread the last time
    unread: int = 0  #: how many of its next pages are left unread
    read: int = 0  #: pages that were read
    different: int = 0  #: pages that were read and were unlike all before
    is_facet: bool = False
    is_suspect: bool = False  #: it is read from the first page on
    is_linked: bool = False  #: some page links to it
    otherwise: float = 0.0  #: the credit of a form in a trap, once a page outside of traps links to it
    pool: Pool = field(default_factory=lambda: Pool(0))
    shown: Shown | None = None  #: by its family, where forms end
    is_selection: bool = False  #: a facet, or URLs that repeat others, where forms end
    listed: set[int] = field(default_factory=set)  #: things that no form with fewer parameters showed before
    since_list: int = UNREAD  #: pages that were drawn since one went on with a list
    worth: int = 0  #: pages that were worth something without their links
    has_items: bool = False  #: the spider made items of one of its pages
    #: The fewest links from its pages to pages with items, each the first to its URL; and to pages that are worth something.
    to_items: int = _NOWHERE
    to_news: int = _NOWHERE
    by_traps: int = 0  #: URLs that pages like its own, or pages that bring nothing, were the first to link to
    by_others: int = 0  #: URLs that other pages were the first to link to

    @property
    def turn(self) -> int:
        """`AT_ONCE` if the form's URLs are fetched like any other; else a number, the larger the later they come."""
        if self.credit >= TURNS[0]:
            return AT_ONCE
        return AFTER + sum(self.credit < limit for limit in TURNS)

    @property
    def is_barren(self) -> bool:
        """Whether the form brought nothing."""
        return self.credit < TURNS[0]

    @property
    def has_ended(self) -> bool:
        """Whether none of the waiting URLs is fetched any more, and no list of the form goes on."""
        return self.pool.is_done and self.since_list >= UNREAD

    @property
    def is_capped(self) -> bool:
        """Whether no more URLs of the form are fetched."""
        return self.has_ended and (self.is_barren or (self.is_facet and not self.is_judged))

    @property
    def feeds_itself(self) -> bool:
        """Whether more of the form's URLs are found than fetched, nearly all on its own pages or on pages that bring
        nothing.
        """
        return self.by_traps > max(_GROWS * self.pages, UNREAD * self.by_others)

    def lists(self, things: set[int]) -> bool:
        """Take note that a page of the form shows *things*. Returns whether the page goes on with a list."""
        if self.shown is None or self.form.is_again or ENDLESS in self.form.names:
            return False
        return self.shown.lists(things, len(self.form.names), self.listed)

    @property
    def is_judged(self) -> bool:
        """Whether enough pages of the form have come to judge the form."""
        return self.pages >= (_SHOWN if self.is_suspect else UNREAD)


@dataclass(slots=True)
class _Site:
    """The counts of one site's pages, items and probes."""

    pages: int = 0
    with_items: int = 0
    early: int = 0  #: pages that did not come last
    early_with_items: int = 0
    probes: int = 0


@dataclass(slots=True)
class _Family:
    """The accounts of the forms of one family, by their parameters, and the sample that its facets share."""

    of_facets: Pool
    forms: dict[tuple[str, ...], Account] = field(default_factory=dict)


@dataclass(slots=True)
class _Host:
    """The rows of looks that end the selections of one host: its facets, and its URLs that repeat others."""

    of_again: Pool  #: of URLs that repeat others
    row: Row = field(default_factory=Row)  #: of facets
    queue: Queue = field(default_factory=Queue)  #: of waiting facets
    shown: dict[str, Shown] = field(default_factory=dict)  #: by family


class Budget:
    """The accounts of all forms of one crawl. *enough*: pages in a row without anything new that end a form; 0: never."""

    def __init__(self, enough: int = 0) -> None:
        self._enough = enough
        self._families: OrderedDict[str, _Family] = OrderedDict()
        self._count = 0
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._hosts: dict[str, _Host] = {}
        self._before: dict[str, float] = {}  #: credit of forms in an earlier crawl, by their texts

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
        """Whether the spider makes items of only some pages of *site*, so that an item says something about its page."""
        of = self._site(site)
        return 0 < of.with_items < max(UNREAD, _EACH * of.pages)

    def items_are_all(self, site: str) -> bool:
        """Whether the spider looks for items on *site*: it has made items of many pages, not counting pages that come last."""
        of = self._site(site)
        return UNREAD <= of.early_with_items and of.early <= _SHARE * of.early_with_items

    @staticmethod
    def waits(account: Account, *, is_new: bool) -> None:
        """Take note that a URL of the form waits. *is_new*: it has not waited before."""
        account.pool.queue.left += 1
        account.pool.queue.came += is_new

    @staticmethod
    def woke(account: Account | None) -> None:
        """Take note that a URL of the form waits no more. Those that have waited since before a pause were not counted."""
        if account is not None:
            account.pool.queue.left = max(0, account.pool.queue.left - 1)

    def sent(self, account: Account, *, is_early: bool = False) -> None:
        """Take note that a URL of the form is being fetched. *is_early*: without having waited, though its form comes last."""
        account.asked += 1
        account.pool.queue.came += is_early

    def is_read(self, account: Account) -> bool:
        """Whether the page that has come should be read. Ask once for each page."""
        if account.unread:
            account.unread -= 1
            return False
        return account.is_suspect or account.pages >= UNREAD

    def came(self, site: str, account: Account, page: Page | None, *, is_drawn: bool = False) -> None:
        """Take note that a page of *account*'s form has come. *page*: what the page brought; None if it was not read."""
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
            if has_items:
                account.has_items, account.to_items = True, 0
            self._book(account, page)
            account.since_list = 0 if page.lists else account.since_list + is_drawn
            account.pool.came(page, is_drawn=is_drawn)

    @staticmethod
    def leads(giver: Account, taker: Account) -> int | None:
        """How many links lead from *giver*'s form through *taker*'s form to new content; None if no such content is known."""
        if taker.form.is_kin_of(giver.form):
            return None
        far = 0 if taker.own >= TURNS[0] else taker.far + 1
        if taker.worth > _SHOWN:
            giver.to_news = 1
        return None if taker.turn or far >= FAR else far

    @staticmethod
    def lends(giver: Account, taker: Account, far: int) -> bool:
        """Credit the form of *giver* for a link to *taker*'s form, *far* links away from new content. Returns whether
        the link was credited: links to forms that have brought nothing yet are, but only a few times in a row.
        """
        has_brought = taker.own > OF_A_FACET if far == 0 else not taker.promised
        if has_brought:
            giver.promised = 0
        else:
            giver.promised += 1
            if giver.promised > UNREAD:
                return False
        giver.far = far
        giver.credit += LINK * _PART
        return True

    def hopes(self, site: str, giver: Account, taker: Account) -> bool:
        """Take note of a link from *giver*'s form to a new URL of *taker*'s. Returns whether the link keeps *giver*'s
        form from ending: *taker*'s form has not ended, and from there fewer links lead to what the spider is after.
        Within one family, only a form with more parameters keeps another from ending.
        """
        giver.to_items = min(giver.to_items, taker.to_items + 1)
        giver.to_news = min(giver.to_news, taker.to_news + 1)
        far, its = giver.to_news, taker.to_news
        if self.items_are_chosen(site):
            far, its = giver.to_items, taker.to_items
        is_below = giver.form.family == taker.form.family and set(giver.form.names) < set(taker.form.names)
        is_other = is_below or not giver.form.first.is_kin_of(taker.form)
        is_nearer = (its, not is_below) < (far, True)
        return (
            is_other and is_nearer and giver.pool.queue is not taker.pool.queue and not taker.pool.has_enough
        )

    def show_anew(self, form: Form) -> None:
        """Forget what the selections of *form*'s host have shown, since other URLs are told apart now."""
        if (host := self._hosts.get(form.host)) is not None:
            for shown in host.shown.values():
                shown.begin_again()

    def waiting(self) -> Iterator[Account]:
        """The accounts of forms that come after all others."""
        for family in self._families.values():
            for account in family.forms.values():
                if account.is_barren:
                    yield account

    def _book(self, account: Account, page: Page) -> None:
        """Count what *page* has brought: as credit, and as pages of the form that need not be read."""
        account.own += (page.value - account.own) * _PART
        account.credit += (page.value - account.credit) * _PART
        if page.value >= TURNS[0] and not page.lists:
            account.worth += 1
            account.promised = 0
            account.pause = min(max(_SHOWN, account.pages // UNREAD), account.pause * 2 + 1)
            account.unread = account.pause
        else:
            account.pause = account.unread = 0

    def _open(self, family: _Family, form: Form) -> Account:
        """Open the account of *form*, which is new in *family*, with the credit of its sort of form."""
        account = Account(form, pool=Pool(self._enough))
        below = list(_below(family, form))
        known = self._before.get(form.text)
        if below:
            least = min((one.credit for one in below if one.is_judged), default=CREDIT)
            account.is_facet, account.credit = True, min(OF_A_FACET, least)
            if form.combines:
                account.pool = family.of_facets
        if known is not None:
            account.credit = min(account.credit, known)
        if form.is_again:
            account.credit = min(account.credit, _OF_AGAIN)
        if self._enough:
            account.is_selection = bool(below) or form.is_again
            self._share(account)
        account.own = min(OF_A_FACET, account.credit)
        account.is_suspect = bool(below) or form.is_again or known is not None or form.is_endless
        family.forms[form.names] = account
        self._count += 1
        self._forget()
        return account

    def _share(self, account: Account) -> None:
        """If the form of *account* shows selections, let it end together with all selections of its kind on its host."""
        form = account.form
        host = self._hosts.setdefault(form.host, _Host(Pool(self._enough, row=Row())))
        account.shown = host.shown.setdefault(form.first.family, Shown())
        if form.is_again:
            account.pool = host.of_again
        elif account.is_selection and form.combines:
            account.pool.row, account.pool.shown, account.pool.queue = host.row, account.shown, host.queue

    def _below(self, account: Account) -> Iterable[Account]:
        family = self._families.get(account.form.family)
        return () if family is None else _below(family, account.form)

    def _forget(self) -> None:
        """Forget the oldest families while there are too many forms."""
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


def _below(family: _Family, form: Form) -> Iterator[Account]:
    """The accounts of the forms in *family* whose parameters are a part of those of *form*."""
    if form.names:
        names = frozenset(form.names)
        for other, account in family.forms.items():
            if len(other) < len(names) and names.issuperset(other):
                yield account
