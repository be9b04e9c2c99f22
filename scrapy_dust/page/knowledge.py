"""The knowledge of a site by which two of its pages are compared: which units to ignore, and which links are equal.

Ignored are units that many pages have, units that change at each fetch, and units that only repeat the page's own
URL. A spider loses nothing by that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from xxhash import xxh3_64_intdigest

from scrapy_dust.page.own import pieces_of, rest_of
from scrapy_dust.page.places import CANONICAL, PATH_BITS, REPEATED, Kind, url_value
from scrapy_dust.page.site_template import is_frameless
from scrapy_dust.page.units import distinct, repeated
from scrapy_dust.page.unitsets import (
    CONTENT,
    EMPTY,
    Mask,
    UnitSet,
    array_of,
    as_links,
    common_to,
    is_in,
    is_of,
    places_of,
    union_of,
    values_of,
    with_values,
    within,
    without,
)
from scrapy_dust.page.volatile import NO_PLACES, NOTHING_VOLATILE, Places, Volatile
from scrapy_dust.visits.strata import template_of


class Aside(StrEnum):
    """The reasons for which a unit is set aside and does not count in comparisons."""

    TEMPLATE = "template"  #: many pages of the site have it
    VOLATILE = "volatile"  #: it stands where units change at each fetch
    OWN = "own"  #: it repeats the page's own URL
    CHROME = "chrome"  #: a link for the page itself, at a place where most pages have one


#: What stands for a link to one of the pages that are compared.
SELF = 0
#: Path templates that are noted, and URLs of each.
_TEMPLATES, _LINKED = 500, 8

#: By path template, URLs that pages link to.
Linked = dict[str, dict[str, None]]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """The knowledge of one site by which two of its pages are compared."""

    template: UnitSet = field(
        default_factory=EMPTY.copy
    )  #: units that most pages have, and no other in their stead
    common: UnitSet = field(
        default_factory=EMPTY.copy
    )  #: units that most pages have: nothing that is a page's own
    chrome: UnitSet = field(
        default_factory=EMPTY.copy
    )  #: places that hold links for the page itself on most pages
    volatile: Volatile = NOTHING_VOLATILE
    names: Mapping[int, str] = field(default_factory=dict)  #: places in words
    urls: Mapping[int, str] = field(default_factory=dict)  #: known URLs by the value of links to them
    key: Callable[[str], str] | None = None  #: the key of a URL under the rules in force and those on trial
    linked: Mapping[str, Collection[str]] = field(
        default_factory=dict
    )  #: by path template, some URLs that pages of the site link to
    shown: Mapping[int, int] = field(
        default_factory=dict
    )  #: what the log shows at the end of a link, by its value
    alike: Mapping[int, str] = field(
        default_factory=dict
    )  #: URLs of links, by value, of which what they show does not tell them from others
    of_items: bool = False  #: units are what a spider took: none is too little to be compared

    def places_for(self, url: str) -> Places:
        """The places that change at each fetch on pages like *url*."""
        return self.volatile.of(template_of(url)) if self.volatile else NO_PLACES

    def drawn_places_for(self, url: str) -> Places:
        """The places on pages like *url* whose units are drawn by lot at each fetch."""
        return self.volatile.drawn(template_of(url)) if self.volatile else NO_PLACES

    def telling_places_for(self, url: str) -> Places:
        """The places on pages like *url* whose texts change, while a part of them lasts and belongs to the page."""
        return self.volatile.telling(template_of(url)) if self.volatile else NO_PLACES

    def sure_places_for(self, url: str) -> Places:
        """The places that surely change at each fetch on pages like *url*."""
        return self.volatile.surely(template_of(url)) if self.volatile else NO_PLACES


NOTHING_KNOWN = Knowledge()


@dataclass(slots=True)
class Sifted:
    """The units of an answer that count, and how many do not, by reason."""

    units: UnitSet
    aside: dict[Aside, int]


def sifted(units: UnitSet, knowledge: Knowledge, places: Places) -> Sifted:
    """*units* without units that say nothing, and with links to the page itself turned into links like any other,
    except links of the template.
    """
    aside: dict[Aside, int] = {}

    def keep(kept: UnitSet, reason: Aside) -> UnitSet:
        if len(kept) < len(units):
            aside[reason] = len(units) - len(kept)
        return kept

    units = units[~are_beside(units)]
    units = keep(units[~is_of(units, Kind.OWN)], Aside.OWN)
    # A link of the menu is of the template on the page that it leads to, too.
    is_template = is_in(units, knowledge.template) | is_in(as_links(units), knowledge.template)
    units = keep(units[~is_template], Aside.TEMPLATE)
    if places:
        units = keep(units[~places.has(units)], Aside.VOLATILE)
    is_chrome = is_of(units, Kind.OWN_LINK) & is_in(places_of(units), knowledge.chrome)
    return Sifted(distinct(np.where(is_chrome, units, as_links(units))), aside)


def of_one_frame(a: Sequence[UnitSet], b: Sequence[UnitSet], knowledge: Knowledge) -> tuple[UnitSet, UnitSet]:
    """Units of the site's template that all answers of one page have and no answer of the other one, for two pages
    that both have the site's frame.

    Where one of them has no frame, as a view for printing, template says nothing about either.
    """
    of_a, of_b = ([_of_template(one, knowledge) for one in side] for side in (a, b))
    frame_a, frame_b = common_to(of_a), common_to(of_b)
    only_a, only_b = without(frame_a, union_of(of_b)), without(frame_b, union_of(of_a))
    lacking = is_frameless(np.array([len(only_b), len(only_a)]), np.array([len(frame_b), len(frame_a)]))
    return (EMPTY, EMPTY) if lacking.any() else (only_a, only_b)


def lacking_of_frame(units: UnitSet, knowledge: Knowledge) -> UnitSet:
    """Units of the site's template, links aside, that a page with *units* lacks, though the page has the site's frame."""
    frame: UnitSet = knowledge.template[is_of(knowledge.template, *CONTENT)]
    missing = without(frame, distinct(as_links(units)))
    if is_frameless(np.array(len(missing)), len(frame)):
        return EMPTY
    kept: UnitSet = missing[~is_of(missing, Kind.LINK, Kind.OWN_LINK)]
    return kept


def _of_template(units: UnitSet, knowledge: Knowledge) -> UnitSet:
    """The *units* that belong to the site's template. A link to the page itself counts as any other link."""
    found = within(distinct(as_links(units)), knowledge.template)
    kept: UnitSet = found[is_of(found, *CONTENT)]
    return kept


def are_beside(units: UnitSet) -> Mask:
    """A mask over *units*: those that say what a link to the page itself adds to the page's URL."""
    mask: Mask = is_of(units, Kind.OWN) & (values_of(units) != np.uint64(REPEATED))
    return mask


def are_canonical(units: UnitSet) -> Mask:
    """A mask over *units*: the URLs that a page names as its own. They show nothing that the page would be about."""
    mask: Mask = places_of(units) == np.uint64(CANONICAL)
    return mask


def without_own_canonical(units: UnitSet) -> UnitSet:
    """*units* without a canonical URL that is the page's own: another page may name none. Links in *units* are given
    by their classes.
    """
    kept: UnitSet = units[units != np.uint64(CANONICAL << 32 | SELF)]
    return kept


def as_own(places: UnitSet) -> UnitSet:
    """The places of links to the page itself among *places*, as places of the texts that such links add to the page's
    URL.
    """
    own: UnitSet = places & np.uint64((1 << PATH_BITS) - 1) | np.uint64(Kind.OWN << PATH_BITS)
    return own


class LinkClasses:
    """Compares links by the keys of the URLs to which they lead.

    Whether the two pages are one is still open, so a link to either of them counts as a link to the page itself.
    Without keys, links are compared by the contents that the log has at their ends.
    """

    def __init__(
        self, knowledge: Knowledge, urls: tuple[str, ...], links: Mapping[int, str], own: UnitSet = EMPTY
    ) -> None:
        """Compares links of two pages by the contents to which they lead. *links*: URLs by the values of links; *own*:
        values of links to the page itself.
        """
        self._knowledge, self._links, self._own_values = knowledge, links, own
        self._found: dict[int, int] = {url_value(url): SELF for url in urls}
        self._pieces = frozenset(piece for url in urls for piece in pieces_of(url))
        self._own = set() if knowledge.key is None else {knowledge.key(url) for url in urls}
        self._open: set[int] = set()  #: values of links of which their ends do not tell what they are
        self._telling: dict[str, bool] = {}  #: by path template, whether links to it have several keys

    def merged(self, units: UnitSet) -> UnitSet:
        """*units* with the value of each link replaced by its class."""
        are_links = is_of(units, Kind.LINK, Kind.OWN_LINK)
        if not are_links.any():
            return units
        values = values_of(units)
        found = values.copy()
        found[are_links] = [self._class(value) for value in values[are_links].tolist()]
        alike = have_likes(with_values(units, found)) & ~is_in(values, self._own_values)
        alike &= found != np.uint64(SELF)
        found[alike] = values[alike]
        self._open.update(values[alike].tolist())
        return distinct(with_values(units, found))

    def unknown(self) -> UnitSet:
        """The values of links whose URL is not known, so that nobody can tell their classes."""
        if self._knowledge.key is None and not self._knowledge.shown:
            return EMPTY
        return array_of({*self._open, *(value for value, found in self._found.items() if found == value)})

    def lead_elsewhere(self, values: UnitSet, others: UnitSet) -> bool:
        """Whether two sets of links, given by their classes, lead to other contents. The log must have all of the
        contents.
        """
        ends, other_ends = self._ends(values), self._ends(others)
        return bool(ends and other_ends) and None not in ends | other_ends and ends != other_ends

    def _ends(self, classes: UnitSet) -> set[int | None]:
        """The contents at the ends of links of these *classes*, among them None if the log lacks one."""
        wanted = set(classes.tolist())
        raw = (value for value, found in self._found.items() if found in wanted)
        return {self._knowledge.shown.get(value) for value in raw}

    def _class(self, value: int) -> int:
        """The class of links with this *value*, looked up once."""
        found = self._found.get(value)
        if found is None:
            found = self._found[value] = self._look_up(value)
        return found

    def _look_up(self, value: int) -> int:
        """Find the class of links with this *value*: by the key of their URL, or by the content at their end."""
        known, is_own = self._knowledge, value in self._own_values
        if value in known.alike and not is_own:
            return self._rest(known.alike[value])
        if known.key is None:
            end = known.shown.get(value)
            return value if end is None else _hash(b"end ", str(end))
        url = self._links.get(value) or known.urls.get(value)
        if url is None:
            return value
        key = known.key(url)
        if key in self._own:
            return SELF
        if is_own or value in known.shown or self._tells(url, key, known.key):
            return _hash(b"key ", key)
        return self._rest(url)

    def _rest(self, url: str) -> int:
        """A class for the link to *url* by what it adds to the page's own URL, since its key and its content tell
        nothing.
        """
        found = rest_value(url, self._pieces)
        self._open.add(found)
        return found

    def _tells(self, url: str, key: str, key_of: Callable[[str], str]) -> bool:
        """Whether *key*, the class of the link to *url*, tells links apart: another URL of its path template has
        another class.

        A key that differs from the URL in its host alone tells links apart, too: it has the URL's path and parameters.
        """
        if key == url or pieces_of(key)[1:] == pieces_of(url)[1:]:
            return True
        template = template_of(url)
        if template not in self._telling:
            others = (*self._beside.get(template, ()), *self._knowledge.linked.get(template, ()))
            self._telling[template] = any(key_of(other) != key for other in others)
        return self._telling[template]

    @cached_property
    def _beside(self) -> Linked:
        """Some URLs to which both pages link, for comparison with a link of only one of them."""
        found: Linked = {}
        note_linked(found, self._links.values())
        return found


def have_likes(ends: UnitSet, pages: UnitSet | None = None) -> Mask:
    """A mask of the links, given by the contents at their ends, that are on their page more than once. Links to the page
    itself never are.

    Where several links of one place lead to one answer, the answer does not tell the links apart. *pages*: a number
    of 64 bits for the page of each link; None if all are of one page.
    """
    numbers = ends if pages is None else ends ^ pages
    found: Mask = is_in(numbers, repeated(numbers)) & is_of(ends, Kind.LINK)
    return found


def note_linked(linked: Linked, urls: Iterable[str]) -> None:
    """Remember in *linked* a few of *urls* for each path template, as examples of what pages link to."""
    for url in urls:
        template = template_of(url)
        if template in linked or len(linked) < _TEMPLATES:
            known = linked.setdefault(template, {})
            if len(known) < _LINKED:
                known[url] = None


def rest_value(url: str, own: Container[str]) -> int:
    """The value of a link without the *own* pieces of its page's URL: links that differ in these pieces alone are equal."""
    return _hash(b"rest ", rest_of(url, own))


def _hash(what: bytes, said: str) -> int:
    return xxh3_64_intdigest(what + said.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF
