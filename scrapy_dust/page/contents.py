"""Gives each URL of a site a label for its content: URLs with equal labels show the same page.

One pass over the units of all pages of a site. Set aside are the units of the site's template, units that change at
each fetch, and units that repeat the page's own URL. A link counts by the page at its end: two pages that link to the
same contents link to the same, however the links are written. A link whose end the log does not have counts as it is
written; two pages that differ in such links alone have the same `core`, and their labels cannot tell them apart.

A URL has no label if it shows nothing of its own, a wall in the place of a page, or so little that other URLs show
the same because they are as empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.flat import BLOCK, Flat, Index, each_once, flat_of, joined
from scrapy_dust.page.knowledge import SELF, are_beside, are_canonical, as_own, have_likes, rest_value
from scrapy_dust.page.lists import Lists, Resolved, Said
from scrapy_dust.page.own import pieces_of
from scrapy_dust.page.places import Kind, url_value
from scrapy_dust.page.site_template import NO_TEMPLATE, SiteTemplate, frame_of, is_frameless, site_template
from scrapy_dust.page.units import distinct, mixed, unpack
from scrapy_dust.page.unitsets import (
    CONTENT,
    EMPTY,
    SEEN,
    Mask,
    UnitSet,
    array_of,
    as_links,
    is_in,
    is_of,
    places_of,
    union_of,
    values_of,
    with_values,
    without,
)
from scrapy_dust.page.volatile import NOTHING_VOLATILE, Group, Volatile, learn_volatile
from scrapy_dust.page.walls import alike, walls
from scrapy_dust.visits.pages import LEAST_OWN, PackedUnits
from scrapy_dust.visits.strata import template_of

#: Answers to one URL that are compared: the first ones.
MOST_ANSWERS = 5

#: Different contents, as a share of all links, that links for the page itself may lead to and say nothing.
MOST_ENDS = 0.1

Sums = npt.NDArray[np.uint64]  #: two numbers for the set of units of each page

_SECOND = np.uint64(0xA0761D6478BD642F)
_VALUE = np.uint64(0xFFFFFFFF)
_NO_URLS: Mapping[int, str] = MappingProxyType({})


@dataclass(slots=True, unsafe_hash=True)
class Shown:
    """One answer of a log, with its units."""

    url: str
    units: PackedUnits  #: as `pack` makes them
    fetched_at: str | None = None  #: ISO 8601


@dataclass(slots=True, unsafe_hash=True)
class Content:
    """The content that a URL shows."""

    label: str | None  #: equal ones are one page; None: it says nothing
    core: str  #: a label of the content without links
    own: int  #: units of its own that its readers see
    is_volatile: bool = False  #: its answers differ, or it has units where pages like it change
    total: str | None = (
        None  #: of a page of which only a sample is known: stands for all of its units as they were
    )


#: The content of a URL that is known to show no page.
NOTHING_SHOWN = Content(None, "", 0)


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a site's URLs, and the knowledge of the site that was gathered on the way."""

    by_url: Mapping[str, Content]
    template: SiteTemplate
    volatile: Volatile  #: what was known, and what URLs with several answers have shown
    places: Sequence[int]  #: where units stand
    shown: Mapping[int, int]  #: what the log shows at the end of a link, by the link's value
    alike: Mapping[int, str]  #: URLs of links, by value, whose pages show what pages of unrelated URLs show
    of_items: bool = False  #: units are what a spider took


def contents_of(
    shown: Sequence[Shown],
    behind: Callable[[str], str | None],
    urls: Sequence[str] = (),
    volatile: Volatile = NOTHING_VOLATILE,
    *,
    of_items: bool = False,
    likely: bool = False,
) -> Contents:
    """The contents of one site's URLs.

    *behind*: the URL of the page to which a URL leads, if the log has it; *urls*: URLs that redirect. *of_items*:
    units are what a spider took: none of them is template, and one item is enough to be a page. *likely*: leave out
    parts that change on similar pages, though nobody knows that they change on all. Such labels suggest that two
    pages are one, and prove nothing.
    """
    rows = _Rows(_first_answers(shown))
    read = _read(rows, volatile, of_items=of_items, likely=likely)
    pages = _pages_behind(rows, urls, behind)
    ends = _ends(rows, read, pages)
    template = replace(read.template, chrome=ends.chrome(read.links, rows, read.template))
    core = read.core + _sums(
        read.beside.only(is_in(places_of(read.beside.units), distinct(as_own(template.chrome))))
    )
    whole = core + ends.resolved(read.links, rows, template)
    in_the_way = walls(rows.urls, rows.templates, _shown(whole, read.own))
    if in_the_way:
        ends = _ends(rows, read, pages, in_the_way)
        whole = core + ends.resolved(read.links, rows, template)
    found = _settled(rows, read, whole, in_the_way)
    return Contents(found, template, read.volatile, read.places, ends, ends.alike, of_items)


def _first_answers(shown: Sequence[Shown]) -> list[Shown]:
    """*shown* with at most `MOST_ANSWERS` answers of each URL, the first ones."""
    if len({one.url for one in shown}) == len(shown):
        return list(shown)
    answers: dict[str, int] = {}
    kept = []
    for one in shown:
        answers[one.url] = answers.get(one.url, 0) + 1
        if answers[one.url] <= MOST_ANSWERS:
            kept.append(one)
    return kept


class _Rows:
    """The answers of a site; answers of one path template stand together, and answers of one URL after each other."""

    def __init__(self, shown: Sequence[Shown]) -> None:
        places = {url: place for place, url in enumerate(dict.fromkeys(one.url for one in shown))}
        if len(places) < len(shown):
            shown = sorted(shown, key=lambda one: places[one.url])
        once: dict[str, str] = {}  # a site has few templates: equal ones are one object
        templates = [
            once.setdefault(template, template) for template in map(template_of, (one.url for one in shown))
        ]
        in_order = sorted(range(len(shown)), key=templates.__getitem__)
        self.shown = [shown[number] for number in in_order]
        self.templates = [templates[number] for number in in_order]
        self.urls = [one.url for one in self.shown]
        self.spans = list(pairwise(_bounds(self.templates)))
        self.bounds = _bounds(self.urls)  #: where the answers of each URL begin, and their number

    def flat(self) -> Flat:
        """The units of all answers in one array."""
        return flat_of([one.units for one in self.shown])

    def groups(self, flat: Flat) -> list[Group]:
        """The answers of each URL that has several answers, with the path template of the URL."""
        return [
            Group(
                self.templates[begin],
                [distinct(flat.part(row, row + 1).units) for row in range(begin, end)],
            )
            for begin, end in pairwise(self.bounds)
            if end - begin > 1
        ]

    @cached_property
    def values(self) -> UnitSet:
        """For each row, the value that a link to the row's URL has as a unit."""
        return np.fromiter(map(url_value, self.urls), np.uint64, len(self.urls))


def _bounds(values: Sequence[str]) -> list[int]:
    """The positions at which *values*, sorted, change, and how many different values there are."""
    begins = [number for number, value in enumerate(values) if not number or value != values[number - 1]]
    return [*begins, len(values)]


@dataclass(frozen=True, slots=True)
class _Read:
    """The units of a site's pages by themselves, before links are followed."""

    core: Sums  #: of the units that count, without links
    steady: Sums  #: of the units in `core`, without units at places that change on similar pages
    links: Flat  #: those that count
    beside: Flat  #: what links for the page itself say beside its URL
    own: _Own
    template: SiteTemplate
    volatile: Volatile
    places: Sequence[int]
    changing: Mask  #: the answers with units that count at places that change on similar pages


def _read(rows: _Rows, volatile: Volatile, *, of_items: bool, likely: bool) -> _Read:
    """Read the units of all pages, without following their links. The arguments are those of `contents_of`."""
    site, beside, volatile = _without_own_urls(rows, volatile)
    template = NO_TEMPLATE if of_items else site_template(site, rows.spans)
    aside, changing = _aside(site, rows, template, volatile)
    if likely:
        aside |= changing
    changes = site.counts(changing & ~aside) > 0
    layout = _Layout(site, rows, template.template, volatile)
    core, steady, links, own = list[Sums](), list[Sums](), list[Flat](), list[_Own]()
    for begin in range(0, len(site) or 1, BLOCK):
        block, at = site.part(begin, begin + BLOCK), int(site.offsets[begin])
        sifted = block.only(~aside[at : at + len(block.units)])
        are_links = _are_links(sifted.units)
        said = layout.said(block)
        core.append(_sums(sifted.only(~are_links)) + said)
        moving = changing[at : at + len(block.units)][~aside[at : at + len(block.units)]]
        steady.append(_sums(sifted.only(~are_links & ~moving)) + said if moving.any() else core[-1])
        links.append(sifted.only(are_links))
        own.append(_taken(sifted, are_links) if of_items else _own(block, sifted, template))
    return _Read(
        np.concatenate(core),
        np.concatenate(steady),
        joined(links),
        beside,
        _together(own),
        template,
        volatile,
        _places(site),
        changes,
    )


class _Layout:
    """Tells pages with the site's frame apart by units of the site's template: such a page differs from others
    by a unit that most pages have and by one that few have, be it "in stock" or "used".
    """

    def __init__(self, site: Flat, rows: _Rows, template: UnitSet, volatile: Volatile) -> None:
        self._frame = frame_of(site, template)
        self._frame = self._frame[is_of(self._frame, *CONTENT)]
        # Nobody knows the keys of links yet.
        self._known = template[is_of(template, *CONTENT) & ~_are_links(template)]
        for path in sorted(set(rows.templates)) if volatile else ():
            self._known = self._known[~volatile.of(path).has(self._known)]
        whole = Flat(self._known[is_in(self._known, self._frame)], np.zeros(2, np.int64))
        whole.offsets[1] = len(whole.units)
        self._whole = _sums(whole)

    def said(self, block: Flat) -> Sums:
        """Two numbers for the template units of each page: zeros for pages with exactly the site's frame, and for
        pages without the frame.
        """
        there = block.counts(block.where(lambda units: _is_in_some_form(units, self._frame)))
        said = _sums(block.only(is_in(block.units, self._known))) - self._whole
        said[is_frameless(len(self._frame) - there, len(self._frame))] = 0
        return said


def _without_own_urls(rows: _Rows, volatile: Volatile) -> tuple[Flat, Flat, Volatile]:
    """Three results: the units of all answers without those that repeat the page's own URL; the units that say what
    links for the page itself add to its URL; and the places known to change.
    """
    flat = rows.flat()
    known = volatile.joined(learn_volatile(rows.groups(flat)))
    beside = flat.only(flat.where(are_beside))
    beside = beside.only(~_changing(beside, rows, known))
    return flat.only(flat.where(lambda units: ~is_of(units, Kind.OWN))), beside, known


def _aside(site: Flat, rows: _Rows, template: SiteTemplate, volatile: Volatile) -> tuple[Mask, Mask]:
    """Two masks over the units of *site*: those of its template, and those at places that change on similar pages."""
    known = template.template
    aside: Mask = site.where(lambda units: _is_in_some_form(units, known))
    return aside, _changing(site, rows, volatile)


def _changing(site: Flat, rows: _Rows, volatile: Volatile) -> Mask:
    """A mask over the units of *site*: those at places that change on similar pages."""
    changing = np.zeros(len(site.units), np.bool_)
    for begin, end in rows.spans if volatile else ():
        if places := volatile.of(rows.templates[begin]):
            here = slice(int(site.offsets[begin]), int(site.offsets[end]))
            changing[here] = places.has(site.units[here])
    return changing


def _is_in_some_form(units: UnitSet, known: UnitSet) -> Mask:
    """A mask of those *units* that are among *known*. A link to the page itself also counts as a link like any other."""
    found = is_in(units, known)
    own_links = is_of(units, Kind.OWN_LINK)
    found[own_links] |= is_in(as_links(units[own_links]), known)
    return found


def _are_links(units: UnitSet) -> Mask:
    return is_of(units, Kind.LINK, Kind.OWN_LINK)


@dataclass(frozen=True, slots=True)
class _Own:
    """The units of its own that each page has."""

    seen: Index  #: what its readers see; of a page without any text whatever it holds
    any: Index  #: whatever it holds
    are_lists: Mask | None = (
        None  #: whether it holds nothing but links, where such a page is told by where they lead
    )


def _own(block: Flat, sifted: Flat, template: SiteTemplate) -> _Own:
    """Count the own units of each page. *block*: all units of the pages; *sifted*: those that were not set aside."""
    units = sifted.units
    chrome = is_of(units, Kind.OWN_LINK) & is_in(places_of(units), template.chrome)
    own = ~chrome & ~is_in(units, template.common) & ~are_canonical(units)
    anything = sifted.counts(own & is_of(units, *CONTENT))
    seen = sifted.counts(own & is_of(units, *SEEN))
    has_text = block.counts(is_of(block.units, Kind.TEXT)) > 0
    seen = np.where(has_text, seen, anything)
    # The digest of a body that has nothing else stands for all of it.
    is_digest = (np.diff(block.offsets) == 1) & (block.counts(is_of(block.units, Kind.DATA)) == 1)
    return _Own(np.where(is_digest, LEAST_OWN * anything, seen), anything)


def _taken(sifted: Flat, are_links: Mask) -> _Own:
    """The units of each page that a spider took; all of them are the page's own, since the spider chose them."""
    anything = sifted.counts(is_of(sifted.units, *CONTENT))
    links = sifted.counts(are_links)
    return _Own(LEAST_OWN * anything, anything, (links > 0) & (links == anything))


def _together(parts: Sequence[_Own]) -> _Own:
    """The readings of several *parts* of a site, joined into one."""
    lists = [part.are_lists for part in parts if part.are_lists is not None]
    return _Own(
        np.concatenate([part.seen for part in parts]),
        np.concatenate([part.any for part in parts]),
        np.concatenate(lists) if lists else None,
    )


def _sums(block: Flat) -> Sums:
    """Two numbers for each page, equal for pages with equal units."""
    first = mixed(block.units)
    return np.stack((block.sums(first), block.sums(mixed(first ^ _SECOND))), axis=1)


def _said(rows: _Rows, read: _Read, in_the_way: Container[int] = ()) -> dict[str, int]:
    """The content of each URL apart from its links. URLs that show nothing, or not always the same, are left out."""
    core, says_something = (read.steady[:, 0] & _VALUE).tolist(), read.own.any.tolist()
    are_lists = read.own.are_lists
    found = {}
    for begin, end in pairwise(rows.bounds):
        told = [row for row in range(begin, end) if says_something[row] and row not in in_the_way]
        shown = {core[row] for row in told}
        if len(shown) == 1 and not (are_lists is not None and are_lists[told].any()):
            found[rows.urls[begin]] = shown.pop()
    return found


class _Behind(NamedTuple):
    """The page that a URL leads to."""

    url: str
    value: int  #: of a link to it
    page: str  #: the page's own URL
    template: str  #: its path template


def _pages_behind(rows: _Rows, urls: Sequence[str], behind: Callable[[str], str | None]) -> list[_Behind]:
    """The pages to which links to the URLs of *rows* and to *urls* lead, as far as the log has them."""
    values, known = rows.values.tolist(), set(rows.urls) if urls else ()
    listed = [(rows.urls[row], values[row], rows.templates[row]) for row in rows.bounds[:-1]]
    listed += [(url, url_value(url), template_of(url)) for url in dict.fromkeys(urls) if url not in known]
    return [
        _Behind(url, value, page, template)
        for url, value, template in listed
        if (page := behind(url)) is not None
    ]


def _alike(said: Said, pages: Sequence[_Behind]) -> dict[int, str]:
    """The URLs, by their values as links, whose pages show a content that URLs with nothing in common show too."""
    urls = [one.url for one in pages]
    numbers = alike(urls, [one.template for one in pages], [said.get(one.page) for one in pages])
    return {pages[number].value: urls[number] for number in sorted(numbers)}


def _ends(rows: _Rows, read: _Read, pages: Sequence[_Behind], in_the_way: Container[int] = ()) -> _Ends:
    """Find the contents to which links lead, also of pages that hold nothing but links. *in_the_way*: the rows of
    walls, which show no page.
    """
    said: Said = _said(rows, read, in_the_way)

    def resolved(said: Said) -> Resolved:
        ends = _Ends(said, pages)
        return ends.resolved(read.links, rows, NO_TEMPLATE)[:, 0], ends.unknown(read.links, rows)

    if read.own.are_lists is not None:
        counts = np.array(
            [bool(count) and row not in in_the_way for row, count in enumerate(read.own.any)], np.bool_
        )
        said = Lists(rows.urls, rows.bounds, read.core[:, 0], counts, read.own.are_lists).said(said, resolved)
    return _Ends(said, pages, _alike(said, pages))


class _Ends(Mapping[int, int]):
    """The contents at the ends of links, by the links' values. Kept in arrays, since a site has millions of links."""

    def __init__(self, said: Said, pages: Sequence[_Behind], alike: Mapping[int, str] = _NO_URLS) -> None:
        """*said*: the contents that URLs show. *pages*, *alike*: the results of `_pages_behind` and `_alike`."""
        self.alike, self._values_alike = alike, array_of(alike)
        found = {one.value: said[one.page] for one in pages if one.page in said}
        self._values = array_of(found)
        self._contents = np.array([found[value] for value in self._values.tolist()], np.uint64)

    def __getitem__(self, value: int) -> int:
        at = int(np.searchsorted(self._values, np.uint64(value)))
        if at == len(self._values) or int(self._values[at]) != value:
            raise KeyError(value)
        return int(self._contents[at])

    def __iter__(self) -> Iterator[int]:
        return iter(self._values.tolist())

    def __len__(self) -> int:
        return len(self._values)

    def resolved(self, links: Flat, rows: _Rows, template: SiteTemplate) -> Sums:
        """For each page, the contents to which its *links* lead, each once."""
        plain = EMPTY
        if len(template.chrome):
            plain = distinct(links.units[links.where(lambda units: is_of(units, Kind.LINK))])
        found = [np.zeros((0, 2), np.uint64)]
        for begin, block in _in_blocks(links):
            chrome = is_of(block.units, Kind.OWN_LINK) & is_in(places_of(block.units), template.chrome)
            # A link for the page itself may be a link like any other on another page: then it is one here, too.
            chrome[chrome] = ~is_in(as_links(block.units[chrome]), plain)
            kept = block.only(~chrome)
            ends, _ = self._led(kept, rows, begin)
            found.append(_sums(each_once(Flat(with_values(as_links(kept.units), ends), kept.offsets))))
        return np.concatenate(found)

    def unknown(self, links: Flat, rows: _Rows) -> Index:
        """How many links of each page lead where the log has nothing."""
        known = (self._led(block, rows, begin)[1] for begin, block in _in_blocks(links))
        return links.counts(~np.concatenate([np.zeros(0, np.bool_), *known]))

    def chrome(self, links: Flat, rows: _Rows, template: SiteTemplate) -> UnitSet:
        """The places on *links*' pages whose links, as far as is known, all lead to one content, as to a login form.

        Links that lead to other contents on each page are what the page is about: the items of a list.
        """
        links = links.only(
            links.where(lambda units: is_of(units, Kind.OWN_LINK) & is_in(places_of(units), template.chrome))
        )
        found, known = self._led(links, rows)
        places = places_of(links.units)[known]
        ends = distinct((places << np.uint64(32)) | found[known]) >> np.uint64(32)
        having, led = np.unique(places, return_counts=True)
        _, different = np.unique(ends, return_counts=True)
        kept: UnitSet = having[(different > 1) & (different > MOST_ENDS * led)]
        return without(template.chrome, kept)

    def _led(self, links: Flat, rows: _Rows, begin: int = 0) -> tuple[UnitSet, Mask]:
        """Two results for each of *links*: the content of the page at its end, or else the link's own value; and
        whether the content is known and tells links apart.
        """
        own_values = rows.values[begin : begin + len(links)]
        values = values_of(links.units)
        found, known = values.copy(), np.zeros(len(values), np.bool_)
        if len(self._values):
            at = np.searchsorted(self._values, values)
            at[at == len(self._values)] = 0
            known = self._values[at] == values
            found[known] = self._contents[at[known]]
        is_self = (values == own_values[links.pages()]) & ~known
        found[is_self] = SELF
        alike = known & have_likes(with_values(links.units, found), mixed(links.pages().astype(np.uint64)))
        found[alike] = values[alike]
        alone = is_in(values, self._values_alike) & is_of(links.units, Kind.LINK) & ~alike & ~is_self
        found[alone] = self._rests(values[alone], links.pages()[alone] + begin, rows.urls)
        return found, (known & ~alike & ~alone) | is_self

    def _rests(self, values: UnitSet, pages: Index, urls: Sequence[str]) -> list[int]:
        """For links on the *pages* of *urls*, the texts that they add to the pages' own URLs."""
        own = {page: frozenset(pieces_of(urls[page])) for page in np.unique(pages).tolist()}
        return [
            rest_value(self.alike[value], own[page])
            for value, page in zip(values.tolist(), pages.tolist(), strict=True)
        ]


def _in_blocks(links: Flat) -> Iterator[tuple[int, Flat]]:
    """The *links* of some pages at a time, with the number of the first of these pages."""
    begin = 0
    for block in links.blocks():
        yield begin, block
        begin += len(block)


def _shown(whole: Sums, own: _Own) -> list[str | None]:
    """A label for each row of *whole*, a sum of units per answer; None for an answer without a unit of its own."""
    return [label if count else None for label, count in zip(_labels(whole), own.any.tolist(), strict=True)]


def _settled(rows: _Rows, read: _Read, whole: Sums, in_the_way: Container[int]) -> dict[str, Content]:
    """The content of each URL. *whole*: the sums of each answer's units; *in_the_way*: the rows of walls."""
    shown, cores, seen = _shown(whole, read.own), _labels(read.core), read.own.seen.tolist()
    changing = read.changing.tolist()
    found = {}
    for begin, end in pairwise(rows.bounds):
        told = [row for row in range(begin, end) if shown[row] is not None and row not in in_the_way]
        # A URL that has shown more does not show little: then something stood in its place.
        if len(told) > 1:
            told = [row for row in told if seen[row] >= LEAST_OWN] or told
        row = told[0] if told else begin
        found[rows.urls[begin]] = Content(
            shown[row] if told else None,
            cores[row],
            seen[row],
            len({shown[one] for one in told}) > 1 or any(changing[begin:end]),
            _total(rows.shown[row].units),
        )
    return _without_little(found)


def _total(packed: PackedUnits) -> str | None:
    """A text for all units but links of a page of which only a sample is kept; None if its links are incomplete."""
    if packed.whole:
        return None
    units = unpack(packed)
    return f"{units.total_of_rest if units.has_all_links else units.total:016x}"


def _without_little(found: dict[str, Content]) -> dict[str, Content]:
    """*found*, where contents that several pages share and that have hardly any text lose their labels: such equality says
    little.
    """
    urls = Counter(content.label for content in found.values())
    return {
        url: replace(content, label=None) if content.own < LEAST_OWN and urls[content.label] > 1 else content
        for url, content in found.items()
    }


def _labels(sums: Sums) -> list[str]:
    """A label for each row; equal rows have equal labels."""
    digits = sums.astype(">u8").tobytes().hex()
    texts: dict[str, str] = {}
    labels = (f"u{digits[at : at + 32]}" for at in range(0, len(digits), 32))
    return [texts.setdefault(label, label) for label in labels]


def _places(site: Flat) -> list[int]:
    """All places at which pages of *site* have units."""
    found: list[int] = union_of(distinct(places_of(block.units)) for block in site.blocks()).tolist()
    return found
