"""The template of a site: units that most of its pages have, across path templates, such as menus, footers, and links to
the page itself.

If all pages of a site have one path template, what they share may be what they are about. Then common units are only
counted, so that a page is known to have nothing else, and none is set aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scrapy_dust.page.flat import Flat, Index, joined
from scrapy_dust.page.own import MOST_OWN_LINKS
from scrapy_dust.page.places import Kind
from scrapy_dust.page.units import distinct
from scrapy_dust.page.unitsets import EMPTY, Mask, UnitSet, is_in, is_of, places_of, union_of, within, without

#: Pages of a path template from which on it tells what its pages have in common, and the share that must have it.
LEAST_PAGES, SHARE = 4, 0.8
#: Path templates in which a unit must be common.
LEAST_TEMPLATES = 2
#: For a site with one path template: how many different pages it must have, and the share of them that must have a unit.
LEAST_CONTENTS, SHARE_OF_ALL = 8, 0.95
#: The share of the pages that must have a link for the page itself at a place.
SHARE_WITH_LINKS = 0.5

#: A page without the site's frame, such as a view for printing, lacks this share of the units of the frame, and so many.
SHARE_OF_FRAME, LEAST_OF_FRAME = 0.75, 8

Span = tuple[int, int]  #: the pages of one path template: the first, and the first of the next one


@dataclass(frozen=True, slots=True)
class SiteTemplate:
    """The units that most pages of a site have."""

    common: UnitSet  #: units that most pages have: a page with nothing else has nothing of its own
    #: Those of them that no page lacks alone, and in whose stead no page has another: they are set aside.
    template: UnitSet
    chrome: UnitSet  #: places with links for the page itself

    def __bool__(self) -> bool:
        return bool(len(self.common) or len(self.chrome))


NO_TEMPLATE = SiteTemplate(EMPTY, EMPTY, EMPTY)


def site_template(site: Flat, spans: Sequence[Span]) -> SiteTemplate:
    """The template of *site*. *spans*: its pages by path template; templates with few pages count as one together."""
    parts = list(_parts(site, spans))
    if len(parts) >= LEAST_TEMPLATES:
        frequent = [_frequent(part, SHARE) for part in parts]
        common = _in_several(frequent)
        marks = union_of(
            _marks(part, within(units, common)) for part, units in zip(parts, frequent, strict=True)
        )
        template = without(_without_rivals(site, common), marks)
        return SiteTemplate(common, template, _in_several(list(map(_chrome, parts))))
    common = EMPTY
    if (
        parts
        and len(distinct(np.concatenate([block.sums(block.units) for block in site.blocks()])))
        >= LEAST_CONTENTS
    ):
        common = _frequent(parts[0], SHARE_OF_ALL)
    return SiteTemplate(common, EMPTY, EMPTY)


def is_frameless(missing: Index, frame: Index | int) -> Mask:
    """Whether pages have none of the site's frame, since they lack most of its units. *missing*, *frame*: counts of units.

    A page that lacks only a few of them, such as the button to buy, has the frame, and the gap is content.
    """
    lacking: Mask = (missing >= LEAST_OF_FRAME) & (missing >= SHARE_OF_FRAME * frame)
    return lacking


def frame_of(site: Flat, template: UnitSet) -> UnitSet:
    """The units of the *template* that at least half of all pages have, whatever their path templates."""
    pages = np.zeros(len(template), np.int64)
    for block in site.blocks():
        pages += _times(block.units, template)
    frame: UnitSet = template[2 * pages >= len(site)]
    return frame


def template_of_pages(pages: Iterable[tuple[str, UnitSet]]) -> SiteTemplate:
    """The template that *pages* share; each page is given with the path template of its URL."""
    ordered = sorted(pages, key=lambda one: one[0])
    sizes = [0, *(len(units) for _, units in ordered)]
    flat = Flat(np.concatenate((EMPTY, *(units for _, units in ordered))), np.cumsum(sizes, dtype=np.int64))
    counts = Counter(template for template, _ in ordered)
    ends = np.cumsum(list(counts.values())).tolist()
    return site_template(flat, [(end - count, end) for count, end in zip(counts.values(), ends, strict=True)])


def _parts(site: Flat, spans: Sequence[Span]) -> Iterator[Flat]:
    """The pages of each path template; pages of templates with few pages come last, together."""
    rest: list[Flat] = []
    for begin, end in spans:
        if end - begin >= LEAST_PAGES:
            yield site.part(begin, end)
        else:
            rest.append(site.part(begin, end))
    if sum(map(len, rest)) >= LEAST_PAGES:
        yield joined(rest)


def _frequent(part: Flat, share: float) -> UnitSet:
    """The units that at least a *share* of the pages in *part* has."""
    # What so many of all pages have, so many pages of one block have.
    some = union_of(_frequent_in(block, share) for block in part.blocks())
    pages = np.zeros(len(some), np.int64)
    for block in part.blocks():
        pages += _times(block.units, some)
    frequent: UnitSet = some[pages >= share * len(part)]
    return frequent


def _frequent_in(block: Flat, share: float) -> UnitSet:
    """The units that at least a *share* of the pages in *block* has."""
    units, pages = np.unique(block.units, return_counts=True)
    frequent: UnitSet = units[pages >= share * len(block)]
    return frequent


def _times(units: UnitSet, known: UnitSet) -> Index:
    """For each of *known*, which is ascending, how often it is among *units*."""
    return np.bincount(np.searchsorted(known, within(units, known)), minlength=len(known))


def _in_several(sets: Sequence[UnitSet]) -> UnitSet:
    """The units that pages of several path templates have. *sets*: the units of each template."""
    found, times = np.unique(np.concatenate((EMPTY, *sets)), return_counts=True)
    several: UnitSet = found[times >= LEAST_TEMPLATES]
    return several


def _without_rivals(site: Flat, common: UnitSet) -> UnitSet:
    """*common* without units that some pages replace by others at the same place: "in stock", where others have "sold
    out".
    """
    places = places_of(common)
    known = distinct(places)
    beside, needed = np.zeros(len(common), np.int64), np.zeros(len(known), np.int64)
    for block in site.blocks():
        here = block.only(is_in(places_of(block.units), known))
        is_common = is_in(here.units, common)
        with_others = distinct(_page_and_place(here.only(~is_common)))
        units = here.only(is_common)
        beside += _times(units.units[is_in(_page_and_place(units), with_others)], common)
        needed += _times(with_others & np.uint64(0xFFFFFF), known)
    kept: UnitSet = common[beside == needed[np.searchsorted(known, places)]]
    return kept


def _marks(part: Flat, common: UnitSet) -> UnitSet:
    """The units among *common*, links aside, that some pages of *part* lack, though these pages have nearly all the others:
    "in stock", where other pages have nothing.
    """
    units = common[~is_of(common, Kind.LINK, Kind.OWN_LINK)]
    lacking = np.zeros(len(units), np.int64)
    for block in part.blocks():
        having = block.only(is_in(block.units, units))
        counts = np.diff(having.offsets)
        is_whole = counts >= SHARE_OF_FRAME * len(units)
        lacking += np.count_nonzero(is_whole) - _times(having.units[np.repeat(is_whole, counts)], units)
    marks: UnitSet = units[lacking > 0]
    return marks


def _page_and_place(part: Flat) -> UnitSet:
    """The page and the place of each unit as one number: there are fewer than 2**32 pages and 2**24 places."""
    return (part.pages().astype(np.uint64) << np.uint64(24)) | places_of(part.units)


def _chrome(part: Flat) -> UnitSet:
    """The places that, on most pages of *part*, hold a few links to the page itself."""
    own = part.only(part.where(lambda units: is_of(units, Kind.OWN_LINK)))
    having, links = np.unique(_page_and_place(own), return_counts=True)
    few = having[links <= MOST_OWN_LINKS]
    places, pages = np.unique(few & np.uint64(0xFFFFFF), return_counts=True)
    many = distinct(having[links > MOST_OWN_LINKS] & np.uint64(0xFFFFFF))
    chrome: UnitSet = places[(pages > SHARE_WITH_LINKS * len(part)) & ~is_in(places, many)]
    return chrome
