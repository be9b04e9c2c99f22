"""The places of each site's pages that change at each fetch, and the site's template, in a file of state beside the
logs.

A crawl judges its canaries by the same knowledge by which the rules were proved.

Losing the file costs fetches and nothing else. So a damaged file is no error; it is begun anew, and `KnownPlaces.warning`
says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike

import numpy as np

from scrapy_dust.page.knowledge import Knowledge
from scrapy_dust.page.places import Names
from scrapy_dust.page.site_template import NO_TEMPLATE, SiteTemplate
from scrapy_dust.page.unitsets import UnitSet
from scrapy_dust.page.volatile import Changes, Volatile, place_in
from scrapy_dust.rule_book.state_files import StateFile
from scrapy_dust.rules.strict_json import Block, Damaged

FORMAT = 4
FILE = "volatile.json"

#: Path templates of each site that are kept, those with most places.
_TEMPLATES = 500
_LARGEST = 2**53
#: The parts of a template that are saved, and the units of each part at most.
_PARTS_OF_TEMPLATE, _UNITS = ("common", "template", "chrome"), 20_000


@dataclass(frozen=True, slots=True)
class Site:
    """The volatile places of one site with their names, and its template."""

    volatile: Volatile = field(default_factory=Volatile)
    names: Names = field(default_factory=dict)  #: of places, as far as they are known
    template: SiteTemplate = NO_TEMPLATE  #: what its pages have in common

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge of the site by which two of its pages are compared."""
        common = self.template
        return Knowledge(common.template, common.common, common.chrome, self.volatile)


@dataclass(frozen=True, slots=True)
class KnownPlaces:
    """The volatile places and the templates of all sites."""

    sites: Mapping[str, Site] = field(default_factory=dict)
    warning: str | None = None  #: why this is a new beginning, in one sentence

    def volatile(self) -> dict[str, Volatile]:
        """By site, the places that change at each fetch."""
        return {site: one.volatile for site, one in self.sites.items()}

    def knowledge(self) -> dict[str, Knowledge]:
        """The knowledge of each site by which its pages are compared."""
        return {site: one.knowledge for site, one in self.sites.items()}


def known_places(state: str | PathLike[str] | None) -> KnownPlaces:
    """The volatile places and templates of all sites, from the file in the folder *state*; none where it is missing
    or damaged.
    """
    if state is None:
        return KnownPlaces()
    sites, why = _FILE.read_values(state)
    return KnownPlaces(sites, None if why is None else f"{why} Which places change is learned again.")


def save_places(state: str | PathLike[str], learned: Mapping[str, Site]) -> None:
    """Add the knowledge *learned* of some sites to the file. A new template replaces the old one. Raises `RuleBookError`."""
    learned = {site: one for site, one in learned.items() if one.volatile or one.template}

    def joined(known: dict[str, Site]) -> dict[str, Site]:
        """The places and templates *known* of each site together with those *learned*."""
        for site, one in learned.items():
            old = known.pop(site, Site())
            template = one.template or old.template
            known[site] = Site(old.volatile.joined(one.volatile), {**old.names, **one.names}, template)
        return known

    if learned:
        _FILE.change(state, joined)


def is_known(known: Site, learned: Site) -> bool:
    """Whether the file would stay as it is if *learned* were added to *known*."""
    joined = Site(known.volatile.joined(learned.volatile), known.names, known.template)
    return site_json(joined) == site_json(known)


def site_json(site: Site) -> dict[str, object]:
    """The JSON object of *site* in the file."""
    largest = sorted(site.volatile.changes.items(), key=lambda one: (-len(one[1]), one[0]))[:_TEMPLATES]
    # Where more stays than changes on all kinds of pages, nothing will be set aside.
    moving = {key for _, known in largest for key, one in known.items() if one.survived <= one.changed}
    templates = {
        template: [
            [key, one.urls, one.changed, one.survived, one.emptied, one.read, one.kept, one.open]
            for key, one in sorted(changes.items())
            if key in moving
        ]
        for template, changes in sorted(largest)
    }
    places = {place_in(key) for rows in templates.values() for key, *_ in rows}
    names = {str(place): site.names[place] for place in sorted(places) if place in site.names}
    row = {"templates": {template: rows for template, rows in templates.items() if rows}, "names": names}
    return row | ({"common": _template_json(site.template)} if site.template else {})


def _template_json(template: SiteTemplate) -> dict[str, str]:
    return {
        name: getattr(template, name)[:_UNITS].astype("<u8").tobytes().hex() for name in _PARTS_OF_TEMPLATE
    }


def _parse_site(block: Block) -> Site:
    templates, names = Block(block.take("templates"), "'templates'"), Block(block.take("names"), "'names'")
    changes = {
        template: dict(map(_parse_change, templates.items(template))) for template in list(templates.rest())
    }
    common = block.take("common", None)
    return Site(
        Volatile(changes),
        {_parse_place(place): names.text(place) for place in list(names.rest())},
        NO_TEMPLATE if common is None else _parse_template(Block(common, "'common'")),
    )


def _parse_template(block: Block) -> SiteTemplate:
    return SiteTemplate(**{name: _parse_units(block.text(name)) for name in _PARTS_OF_TEMPLATE})


def _parse_units(text: str) -> UnitSet:
    """The set of units that *text* lists in hexadecimal."""
    try:
        return np.unique(np.frombuffer(bytes.fromhex(text), "<u8").astype(np.uint64))
    except ValueError:
        raise Damaged("one of its templates is no list of units") from None


def _parse_change(row: object) -> tuple[int, Changes]:
    """The key of a volatile place, and how often it was seen to change, in a *row* of the file."""
    if (
        not isinstance(row, list)
        or len(row) != 8
        or not all(type(n) is int and 0 <= n < _LARGEST for n in row)
    ):
        raise Damaged("one of its rows is not a place with seven counts")
    key, *counts = row
    return key, Changes(*counts)


def _parse_place(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise Damaged("one of its names is of no place")
    return int(text)


_FILE = StateFile(FILE, FORMAT, _parse_site, site_json)
