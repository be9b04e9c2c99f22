"""Pages in units, said in short: ``page("text h1: Tea", "link a: http://s.example/1")``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from xxhash import xxh3_64_intdigest

from scrapy_dust.page.places import Kind, place_of, url_value
from scrapy_dust.page.units import Units, units_of
from scrapy_dust.page.unitsets import UnitSet, is_of, places_of, union_of
from scrapy_dust.page.volatile import Group, Volatile, learn_volatile
from scrapy_dust.page.wording import Parts

_DIGITS = re.compile(r"\d+")


def page(*said: str, more: Iterable[str] = ()) -> Units:
    """Units of ``kind path: value``."""
    split = [one.partition(": ") for one in (*said, *more)]
    return units_of(place_named(name) << 32 | _value(_kind(name), text) for name, _, text in split)


def volatile_in(groups: Iterable[tuple[str, Sequence[UnitSet]]]) -> Volatile:
    """The volatile places that path templates with several answers to one URL show; no word lasts in what changes."""
    return learn_volatile(
        Group(template, answers, Parts(read=np.unique(places_of(texts[is_of(texts, Kind.TEXT)]))))
        for template, answers in groups
        for texts in [union_of(answers)]
    )


def names_of(*said: str) -> dict[int, str]:
    return {place_named(name): name for name in (one.partition(": ")[0] for one in said)}


def place_named(name: str) -> int:
    return place_of(_kind(name), name.partition(" ")[2])


def _kind(name: str) -> Kind:
    return Kind[name.partition(" ")[0].upper()]


def _value(kind: Kind, text: str) -> int:
    if kind in (Kind.LINK, Kind.OWN_LINK):
        return url_value(text)
    exact = xxh3_64_intdigest(text.encode())
    if kind in (Kind.TEXT, Kind.FIELD, Kind.DATA):
        return (xxh3_64_intdigest(_DIGITS.sub("#", text).encode()) & 0xFFF) << 20 | exact & 0xFFFFF
    return exact & 0xFFFFFFFF
