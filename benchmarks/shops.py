"""Logs whose pages are told in units, as a crawl writes them: of one clean site, of many, and of one as messy as that of `messy.py`."""

from __future__ import annotations

import random
from collections.abc import Iterator
from hashlib import shake_128
from itertools import islice

from benchmarks.messy import MessySite
from scrapy_dust.page import UNITS_VERSION
from scrapy_dust.page.places import VALUE, Kind, place_of, url_value
from scrapy_dust.page.units import pack, units_of

_OWN, _LINKS = 24, 8
_TEXT, _LINK = place_of(Kind.TEXT, "main p"), place_of(Kind.LINK, "main a")


def _told(place: int, said: str, count: int) -> list[int]:
    """So many units at *place*, of what is *said* there."""
    drawn = shake_128(said.encode()).digest(4 * count)
    return [place << 32 | int.from_bytes(drawn[at : at + 4]) & VALUE for at in range(0, len(drawn), 4)]


_FRAME = [
    unit
    for part, kind in enumerate((Kind.TEXT, Kind.TEXT, Kind.LINK, Kind.MEDIA, Kind.FIELD))
    for unit in _told(place_of(kind, f"nav.{part}"), f"{kind} {part}", 4)
]


def clean(count: int, host: str = "shop.test") -> Iterator[dict[str, object]]:
    """Three URLs for each product, in an order that says nothing, and some lists of products."""
    chance, products = random.Random(3), count * 3 // 10
    lists = count - 3 * products
    forms = ("", "?sid={}", "index.html")
    for at in chance.sample(range(count), count):
        if at < lists:
            yield _record(f"http://{host}/c/{at // 5}?page={at % 5}", f"list {at}", chance, products)
            continue
        number, form = divmod(at - lists, 3)
        end = forms[form].format(chance.getrandbits(40))
        yield _record(f"http://{host}/p/{number}/{end}", f"product {number}", chance, products)


def messy(count: int) -> Iterator[dict[str, object]]:
    chance = random.Random(4)
    for visit in MessySite(count).log():
        yield _record(visit.url, str(visit.title), chance, 0)


def many(count: int) -> Iterator[dict[str, object]]:
    """Clean shops: one has a fifth of the pages, the others are the smaller the more. The giant's pages stand between those of
    the others, as a broad crawl finds them.
    """
    chance = random.Random(5)
    giant, made, number = clean(count // 5), count // 5, 0
    while made < count:
        size = min(count - made, int(20 * chance.paretovariate(1.1)), 20_000)
        yield from clean(size, f"s{number}.test")
        yield from islice(giant, size // 4)
        made, number = made + size, number + 1
    yield from giant


def _record(url: str, said: str, chance: random.Random, products: int) -> dict[str, object]:
    """*said*: what the page is about; equal ones are one page. Links lead to products in all their forms."""
    linked = random.Random(said)
    host = url.split("/")[2]
    links = [f"http://{host}/p/{linked.randrange(products)}/" for _ in range(_LINKS if products else 0)]
    leads = [_LINK << 32 | url_value(link) for link in links]
    units = pack(units_of([*_FRAME, *_told(_TEXT, said, _OWN), *leads]))
    digest = shake_128(said.encode()).hexdigest(16)
    return {
        "url": url,
        "status": 200,
        "size": 2000 + chance.randrange(9),
        "text_digest": digest,
        "sketch": [int(digest[at : at + 8], 16) for at in range(0, 32, 8)],
        "units": units.content.decode("ascii"),
        "units_total": f"{units.total:016x}",
        "units_version": UNITS_VERSION,
    }
