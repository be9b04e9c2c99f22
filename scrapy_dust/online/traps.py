"""Traps: pages without end that say nothing, found from each other. Calendars, paths that repeat themselves, mazes of ids.

URLs of one *form* differ in numbers, ids and the values that hold them. A form looks like a trap while its pages, one
after the other, say nothing that others of the form have not said: no three words in a row are new, numbers of the
page's own URL left out. It is one when that has gone on for long, and the whole site has shown nothing new as long.

All that is forgotten here for want of room is taken for new when it comes again, so that nothing is capped for it.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from scrapy_dust.sites import site_of

#: Pages of a form before they are read, since most forms are of few pages.
UNREAD = 32
#: Pages in a row that said nothing new, after which a form looks like a trap.
SUSPICIOUS = 16
#: After a page that said something new up to so many are not read, or this share of those that the form had; they
#: count as new. So what is fetched in vain before a trap is noticed is a share of what the crawl had from there.
_PASSED_OVER, _SHARE = 16, 1 / 16
#: How often a part of a path may stand in it before it repeats itself.
_TWICE = 2

#: The end of the path of a form that repeats itself.
_REPEATED = "/…"

_FORMS, _SITES = 20_000, 20_000
#: Runs of words, of a form and of all.
_OF_A_FORM, _OF_ALL = 8192, 500_000

_NUMBER = re.compile(r"[0-9]+")
_LETTER = re.compile(rb"[A-Za-z\x80-\xff]")
_NUMBER_IN_TEXT = re.compile(rb"[0-9]+")
# Letters and digits in turn: `article12` is no id, nor is `20th`.
_ID = re.compile(r"(?=[A-Za-z0-9]{8})(?:[A-Za-z]+[0-9]+[A-Za-z]|[0-9]+[A-Za-z]+[0-9])[A-Za-z0-9]*")
#: Digits of a number that may be a page's own.
_LONGEST = 18

Reading = Callable[[], Sequence[bytes] | None]


class Fate(StrEnum):
    """What to do with a URL."""

    FETCH = "fetch"
    LAST = "last"  #: fetch it when nothing else is left
    CAP = "cap"  #: do not fetch it


@dataclass(slots=True)
class _Form:
    pages: int = 0
    barren: int = 0  #: pages in a row that said nothing new
    unread: int = 0  #: so many of the next pages are not read
    pause: int = 0  #: how many that were the last time
    known: set[int] = field(default_factory=set)  #: runs of words that its pages said
    is_capped: bool = False


class Traps:
    """Of one crawl. *limit*: pages in a row without anything new that make a trap."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._forms: OrderedDict[str, _Form] = OrderedDict()  #: the one that was met longest ago first
        self._quiet: OrderedDict[str, int] = OrderedDict()  #: by site: pages in a row that said nothing new
        self._runs = 0  #: in the `known` of all forms
        self._suspicion = min(SUSPICIOUS, limit)
        self._suspects: set[str] = set()  #: forms that may look like a trap; more than do
        self._barren: set[str] = set()  #: forms of which the last page that was read said nothing new

    @property
    def suspects_any(self) -> bool:
        """False: `fate` has nothing but `Fate.FETCH` to say."""
        return bool(self._suspects)

    @property
    def asks_for_parents(self) -> bool:
        """False: where a page that has come was found makes no difference to `came`."""
        return bool(self._barren)

    def came(self, url: str, parent: str | None, read: Reading) -> list[str]:
        """*url*, found on *parent*, has brought a page. The forms that were capped and, because of it, are no longer.

        *read* gives its words; None: it has none that could be compared.
        """
        site, name = site_of(url) or "", form_of(url)
        form = self._form(name)
        form.pages += 1
        if (form.pages <= UNREAD and not name.endswith(_REPEATED)) or form.unread:
            form.unread = max(0, form.unread - 1)
            is_new = True
        else:
            words = read()
            is_new = words is None or self._says_something_new(form, url, words)
            form.barren = 0 if is_new else form.barren + 1
            if form.barren:
                self._barren.add(name)
            if form.barren >= self._suspicion:
                self._suspects.add(name)
            most = max(_PASSED_OVER, int(form.pages * _SHARE))
            form.pause = min(most, form.pause * 2 + 1) if is_new else 0
            form.unread = form.pause
        if is_new and parent is not None and (above := self._forms.get(form_of(parent))) is not None:
            above.barren = 0  # it leads somewhere
            self._found_fruitful(form_of(parent))
        if is_new:
            self._found_fruitful(name)
        return self._heard(site, is_new=is_new)

    def fate(self, url: str, parent: str | None) -> Fate:
        """What to do with *url*, found on *parent*. What was found on a page that is no trap's is fetched."""
        # The parent first: it is the same for all links of a page, and of most pages that is all there is to ask.
        above = None if parent is None else self._forms.get(form_of(parent))
        if above is None or above.barren < self._suspicion:
            return Fate.FETCH
        name = form_of(url)
        form = self._forms.get(name)
        if form is None:
            return Fate.FETCH
        self._forms.move_to_end(name)
        barren = min(form.barren, above.barren)
        if barren >= self._limit and self._quiet.get(site_of(url) or "", 0) >= self._limit:
            form.is_capped = True
            return Fate.CAP
        return Fate.LAST if barren >= self._suspicion else Fate.FETCH

    def _found_fruitful(self, name: str) -> None:
        self._barren.discard(name)
        self._suspects.discard(name)

    def _says_something_new(self, form: _Form, url: str, words: Sequence[bytes]) -> bool:
        if not words:
            return False
        found = _runs_in(without_own_numbers(words, url))
        new = found - form.known
        if len(form.known) + len(new) > _OF_A_FORM:
            self._runs -= len(form.known)
            form.known = set()
            new = found if len(found) <= _OF_A_FORM else set()
            self._runs += len(new)
            form.known |= new
            return True
        form.known |= new
        self._runs += len(new)
        return bool(new)

    def _heard(self, site: str, *, is_new: bool) -> list[str]:
        quiet = self._quiet.pop(site, 0)
        self._quiet[site] = 0 if is_new else quiet + 1
        if len(self._quiet) > _SITES:
            self._quiet.popitem(last=False)
        if not is_new or quiet < self._limit:
            return []
        again = [name for name, form in self._forms.items() if form.is_capped and site_of(name) == site]
        for name in again:
            self._forms[name].is_capped = False
        return again

    def _form(self, name: str) -> _Form:
        form = self._forms.setdefault(name, _Form())
        self._forms.move_to_end(name)
        while len(self._forms) > _FORMS or (self._runs > _OF_ALL and len(self._forms) > 1):
            which, forgotten = self._forms.popitem(last=False)
            self._found_fruitful(which)
            self._runs -= len(forgotten.known)
        return form


@lru_cache(maxsize=4096)
def form_of(url: str) -> str:
    """What *url* has in common with those that a trap makes of it: 0 for numbers, * for ids.

    A path with a part that stands in it thrice goes by its parts, whatever their order and number.
    """
    rest, _, query = url.partition("#")[0].partition("?")
    scheme, _, rest = rest.partition("://")
    host, _, path = rest.partition("/")
    parts = path.split("/")
    kinds = [kind_of(part) for part in parts]
    if (
        len(parts) - len(set(parts)) >= _TWICE
        and max(Counter(filter(None, parts)).values(), default=0) > _TWICE
    ):
        kinds = [*sorted(set(filter(None, kinds))), _REPEATED[1:]]
    names = sorted({kind_of(parameter) for parameter in query.split("&") if parameter}) if query else ()
    return f"{scheme}://{host}/{'/'.join(kinds)}" + (f"?{'&'.join(names)}" if names else "")


def kind_of(part: str) -> str:
    """*part* with 0 for numbers and * for ids."""
    return _NUMBER.sub("0", _ID.sub("*", part)) if _NUMBER.search(part) else part


def _runs_in(words: list[bytes]) -> set[int]:
    """Hashes of any three words in a row, which hold in this process alone."""
    return {hash(run) for run in zip(words, words[1:], words[2:], strict=False)} or {hash(tuple(words))}


def without_own_numbers(words: Sequence[bytes], url: str) -> list[bytes]:
    """*words* where numbers of *url*, and those next to them, read ``#``: a page's own date, the next one, the one before.

    Not in a word that has letters, which may be a name.
    """
    path = url.partition("://")[2].partition("/")[2]
    own = {int(number) for number in _NUMBER.findall(path) if len(number) <= _LONGEST}
    near = {number + step for number in own for step in (-1, 0, 1)}

    def said(number: re.Match[bytes]) -> bytes:
        return b"#" if len(number[0]) <= _LONGEST and int(number[0]) in near else number[0]

    # Most words are letters alone, which is seen sooner than that a word has one.
    return [
        word if word.isalpha() or _LETTER.search(word) else _NUMBER_IN_TEXT.sub(said, word) for word in words
    ]
