"""Finds idle parameters during a crawl: pages say the same with any value of the parameter, and without it.

Session ids and tracking parameters make a new URL of each link. A part of a path with an id counts as a parameter
that is named by its place. As long as no rule covers a parameter, fetched pages do: two URLs that differ in one
parameter alone and show the same text. Nothing is suppressed for that. An idle parameter makes no new form, and a URL
that repeats another one except for idle parameters is fetched after all others.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from scrapy_dust.traps.forms import named

#: Pairs of pages that said the same, of so many different pages, make a parameter idle.
_SAME, _PAGES = 3, 2
#: Pairs of pages that differed, from which on a parameter matters.
_DIFFERENT = 2
#: Pages of a site that are read to find idle parameters, URLs of a site that are remembered for that, and sites.
_READ, _PARTS, _SITES = 200, 2000, 20_000
#: Parameters of a site that are looked at.
_NAMES = 30
#: URLs of sites with idle parameters that are remembered, as fetched or as linked.
_FETCHED = 500_000

#: One of so many pages is compared with those that repeat it, and the share of them that may differ.
_CHECKED, _FEW = 8, 0.05

#: A URL that may have parameters, or an id in its path.
_MAY_HAVE_PARAMETERS = re.compile(r"[?;]|[A-Za-z][0-9]|[0-9][A-Za-z]")

#: Parameters as they are written, which were set aside to see what the rest of a URL has shown.
Aside = tuple[str, ...]
#: A hash of what a page says, its own URL apart; None: it cannot be read.
Reading = Callable[[], int | None]


@dataclass(slots=True)
class _Name:
    """The evidence about one parameter."""

    same: int = 0
    different: int = 0
    pages: set[int] = field(default_factory=set)  #: of which two URLs said the same


@dataclass(slots=True)
class _Site:
    """The evidence about the parameters of one site."""

    names: dict[str, _Name] = field(default_factory=dict)  #: parameters that are not decided
    decided: set[str] = field(default_factory=set)
    idle: frozenset[str] = frozenset()
    read: int = 0
    #: URL without some parameters → these, and what the page said if it was read.
    shown: dict[int, tuple[Aside, int | None]] = field(default_factory=dict)
    fetched: dict[int, int | None] = field(
        default_factory=dict
    )  #: without all idle ones → what some of them say
    linked: set[int] = field(default_factory=set)  #: without all idle ones
    checked: int = 0  #: repetitions that were read
    differing: int = 0  #: repetitions that were other pages


_NOTHING: frozenset[str] = frozenset()


class Idle:
    """Finds the idle parameters of one crawl. *checked*: one in *checked* repeating pages is read, to test the finding."""

    def __init__(self, checked: int = _CHECKED) -> None:
        self._checked = checked
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._fetched = 0

    def of(self, site: str) -> frozenset[str]:
        """The names of the parameters that pages of *site* have shown to be idle."""
        known = self._sites.get(site)
        return _NOTHING if known is None else known.idle

    def known(self, site: str, names: frozenset[str]) -> None:
        """Take over the *names* of parameters of *site* that an earlier crawl found to be idle."""
        self._evidence_of(site).idle |= names

    def came(self, site: str, url: str, read: Reading) -> None:
        """Take note of a page at *url*. It is read if a page came before whose URL differs in one parameter."""
        known = self._sites.get(site)
        if known is not None and known.read >= _READ:
            return
        front, parameters = _cut(url)
        if not parameters and (known is None or not known.names):
            return
        known = known or self._evidence_of(site)
        pairs = list(self._set_aside(known, front, parameters))
        again = [one for one in pairs if one[0] in known.shown]
        for rest, aside in pairs if len(known.shown) < _PARTS else ():
            known.shown.setdefault(rest, (aside, None))
        said = read() if again else None
        if said is not None:
            known.read += 1
            for rest, aside in again:
                self._compare(known, rest, aside, said)

    def _set_aside(self, known: _Site, front: str, parameters: list[str]) -> Iterator[tuple[int, Aside]]:
        """A hash of the URL without each undecided parameter, then without all of them, each time with the parameters
        left out. *front*, *parameters*: the URL as `_cut` has it.
        """
        parameters = [one for one in parameters if one.partition("=")[0] not in known.idle]
        aside = [one for one in parameters if self._is_open(known, one.partition("=")[0])]
        for one in aside if len(aside) > 1 else ():
            yield hash((front, *(other for other in parameters if other is not one))), (one,)
        if known.names:
            yield hash((front, *(other for other in parameters if other not in aside))), tuple(aside)

    def sites(self) -> list[str]:
        """The sites with idle parameters."""
        return [site for site, known in self._sites.items() if known.idle]

    def fetched(self, site: str, url: str, read: Reading) -> bool:
        """Take note of a page at *url*. Returns whether the page is known to equal the page that its URL
        repeats.
        """
        known = self._sites.get(site)
        if known is None or not known.idle:
            return False
        key = self.key(site, url)
        said = read() if key % self._checked == 0 else None
        before = known.fetched.get(key)
        if before is not None and said is not None:
            known.checked += 1
            if said != before:
                self.differs(site, url)
            return said == before
        if key in known.fetched or self._fetched < _FETCHED:
            self._fetched += key not in known.fetched
            known.fetched[key] = said
        return False

    def was_fetched(self, site: str, url: str) -> bool:
        """Whether a page of *site* has come that *url* repeats except for idle parameters."""
        known = self._sites.get(site)
        return known is not None and bool(known.idle) and self.key(site, url) in known.fetched

    def is_linked_first(self, site: str, url: str) -> bool:
        """Whether this is the first link to *url* or to a URL that repeats it."""
        known = self._sites.get(site)
        if known is None or not known.idle:
            return True
        key = self.key(site, url)
        if key in known.fetched or key in known.linked:
            return False
        if self._fetched < _FETCHED:
            known.linked.add(key)
            self._fetched += 1
        return True

    def key(self, site: str, url: str) -> int:
        """A number that is equal for URLs that repeat each other. Python's own hash changes with its seed, and so would
        what is drawn by it.
        """
        front, parameters = _cut(url)
        idle = self.of(site)
        said = "\n".join((front, *(one for one in parameters if one.partition("=")[0] not in idle)))
        return xxh3_64_intdigest(said.encode("utf-8", "surrogatepass"))

    def differs(self, site: str, url: str) -> None:
        """Take note that *url*, which was taken for a repetition, shows another page. After several such URLs the
        parameters count again.
        """
        known = self._evidence_of(site)
        known.differing += 1
        if known.differing > max(_DIFFERENT, known.checked * _FEW):
            names = {one.partition("=")[0] for one in _cut(url)[1]} & known.idle
            known.idle -= names
            known.differing = known.checked = 0
            if len(names) > 1:
                known.decided -= names  # one of them, and nobody knows which

    def _is_open(self, known: _Site, name: str) -> bool:
        """Whether evidence about the parameter *name* is wanted: it is not decided, and not too many others are open."""
        if name in known.decided or name in known.idle:
            return False
        if name not in known.names:
            if len(known.names) + len(known.decided) >= _NAMES:
                return False
            known.names[name] = _Name()
        return True

    def _compare(self, known: _Site, rest: int, aside: Aside, said: int) -> None:
        """Compare *said*, a hash of a page, with the page seen before under *rest*, a hash of the URL without
        *aside*. The result is evidence about the parameters in which the two URLs differ.
        """
        before, its_said = known.shown[rest]
        if its_said is None:
            known.shown[rest] = (aside, said)
            return
        one, other = Counter(aside), Counter(before)
        names = {parameter.partition("=")[0] for parameter in (one - other) + (other - one)}
        for name in sorted(names & known.names.keys()):
            found = known.names[name]
            if its_said == said:
                found.same += 1
                found.pages.add(said)
            elif len(names) == 1:
                found.different += 1
            self._conclude(known, name, found)

    def _conclude(self, known: _Site, name: str, found: _Name) -> None:
        """Decide about the parameter *name* if the evidence *found* is enough."""
        if found.different >= _DIFFERENT:
            self._decide(known, name)
        elif found.same >= _SAME and len(found.pages) >= _PAGES and not found.different:
            self._decide(known, name)
            known.idle |= {name}

    def _decide(self, known: _Site, name: str) -> None:
        """End the search for evidence about the parameter *name*."""
        known.decided.add(name)
        del known.names[name]

    def _evidence_of(self, site: str) -> _Site:
        """The evidence about *site*, begun now if there is none. Forgets the oldest site if there are too many."""
        known = self._sites.setdefault(site, _Site())
        self._sites.move_to_end(site)
        if len(self._sites) > _SITES:
            _, forgotten = self._sites.popitem(last=False)
            self._fetched -= len(forgotten.fetched) + len(forgotten.linked)
        return known


def _cut(url: str) -> tuple[str, list[str]]:
    """*url* cut in two: the part before its parameters, and the parameters. Parts of the path with an id are parameters here."""
    if not _MAY_HAVE_PARAMETERS.search(url):
        return url.partition("#")[0], []
    front, _, query = url.partition("#")[0].partition("?")
    front, *in_path = front.split(";")
    scheme, _, rest = front.partition("://")
    host, _, path = rest.partition("/")
    parts = list(named(path.split("/")))
    ids = [f"{name}={part}" for name, part in parts if name]
    if ids:
        front = "/".join((f"{scheme}://{host}", *(part for name, part in parts if not name)))
    return front, [*ids, *(one for one in (*in_path, *query.split("&")) if one)]
