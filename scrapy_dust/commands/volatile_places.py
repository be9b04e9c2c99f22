"""The action of ``scrapy dustrules`` that lists the places of pages that change at each fetch."""

from __future__ import annotations

import json
from collections.abc import Iterator

from scrapy_dust.commands.context import Context
from scrapy_dust.commands.output import printable
from scrapy_dust.commands.tables import table
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.errors import RuleBookError
from scrapy_dust.page.places import kind_of, name_of
from scrapy_dust.page.volatile import NO_CHANGES, SHAPE, Changes, is_volatile, place_in
from scrapy_dust.rule_book.volatile_places import Site, known_places

#: Site, path template, place, whether only texts of one shape, counts.
Row = tuple[str, str, str, bool, Changes]


def volatile(context: Context, wanted: str | None = None) -> None:
    """Print the places of pages that change at each fetch, of all sites or of the one that is *wanted*. Raises
    `RuleBookError`.
    """
    found = known_places(log_dir(context.dust_dir).parent)
    if found.warning is not None:
        raise RuleBookError("", found.warning)
    rows = [
        row
        for site, one in found.sites.items()
        if wanted in (None, site)
        for row in _volatile_places(site, one)
    ]
    if context.as_json:
        for row in rows:
            print(json.dumps(_as_json(*row)))
    elif rows:
        cells = [[printable(cell) for cell in _cells(*row)] for row in rows]
        print(table(["site", "pages", "place", "urls", "changed"], cells, right={3, 4}, spare=[1, 2]))
    else:
        print("No place of a page is known to change at each fetch.")


def _volatile_places(site: str, one: Site) -> Iterator[Row]:
    """The places that change at each fetch on the pages of *site*, each with its path template and how often it
    changed.
    """
    for template, changes in one.volatile.changes.items():
        for key, counts in changes.items():
            # A shape is told only where its place is not volatile as a whole.
            place = place_in(key)
            in_full = key >= SHAPE and is_volatile(place, changes.get(place, NO_CHANGES))
            if is_volatile(key, counts) and not in_full:
                name = one.names.get(place) or name_of(kind_of(place), f"{place:06x}")
                yield site, template, name, key >= SHAPE, counts


def _cells(site: str, template: str, name: str, is_shape: bool, counts: Changes) -> list[str]:
    """The cells of the table's row about a place."""
    share = counts.changed / (counts.changed + counts.survived)
    return [
        site,
        template,
        f"{name} (texts of one form)" if is_shape else name,
        str(counts.urls),
        f"{share:.0%}",
    ]


def _as_json(site: str, template: str, name: str, is_shape: bool, counts: Changes) -> dict[str, object]:
    """The JSON object about a place."""
    return {
        "site": site,
        "pages": template,
        "place": name,
        "one_form": is_shape,
        "urls": counts.urls,
        "changed": counts.changed,
        "survived": counts.survived,
    }
