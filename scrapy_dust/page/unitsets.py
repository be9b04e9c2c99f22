"""Sets of units as sorted arrays of 64-bit numbers, to compare pages and whole sites.

A unit is the number ``place << 32 | value``. Its place, its kind and the shape of its text are bits of the number, so
that all units of a page are tested at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.places import PATH_BITS, SHAPE_BITS, Kind
from scrapy_dust.page.units import Units, distinct

UnitSet = npt.NDArray[np.uint64]  #: ascending, each unit once
Mask = npt.NDArray[np.bool_]

EMPTY: UnitSet = np.empty(0, dtype=np.uint64)

_VALUE_BITS, _SHAPE_SHIFT = np.uint64(32), np.uint64(32 - SHAPE_BITS)
_KIND_SHIFT = np.uint64(32 + PATH_BITS)
_VALUE = np.uint64(0xFFFFFFFF)
_KIND_BITS = np.uint64(7 << (32 + PATH_BITS))

#: Kinds whose values tell their shape: the text with `#` in place of numbers.
SHAPED = (Kind.TEXT, Kind.FIELD, Kind.DATA)
#: Kinds that make a page, those first that its readers see. A group says only which of them belong together.
SEEN = (Kind.TEXT, Kind.LINK, Kind.OWN_LINK, Kind.MEDIA)
CONTENT = (*SEEN, Kind.FIELD, Kind.DATA)


def set_of(units: Units) -> UnitSet:
    """The units of a page, each once."""
    return distinct((units.places.astype(np.uint64) << _VALUE_BITS) | units.values.astype(np.uint64))


def places_of(units: UnitSet) -> UnitSet:
    """The place of each unit."""
    return units >> _VALUE_BITS


def values_of(units: UnitSet) -> UnitSet:
    """The value of each unit."""
    return units & _VALUE


def shapes_of(units: UnitSet) -> UnitSet:
    """Place and shape of each unit, as one number. Units of kinds without shapes have a number without a meaning."""
    return units >> _SHAPE_SHIFT


def kinds_of(units: UnitSet) -> UnitSet:
    """The kind of each unit."""
    return (units >> _KIND_SHIFT) & np.uint64(7)


def is_of(units: UnitSet, *kinds: Kind) -> Mask:
    """A mask over *units*: those of one of the given kinds."""
    wanted = np.zeros(8, dtype=np.bool_)
    wanted[[int(kind) for kind in kinds]] = True
    mask: Mask = wanted[kinds_of(units)]
    return mask


def is_in(values: UnitSet, known: UnitSet) -> Mask:
    """A mask over *values*: those among *known*, which is ascending."""
    if not len(known) or not len(values):
        return np.zeros(len(values), dtype=np.bool_)
    at = np.searchsorted(known, values)
    at[at == len(known)] = 0
    found: Mask = known[at] == values
    return found


def without(units: UnitSet, others: UnitSet) -> UnitSet:
    """The *units* that are not among *others*."""
    kept: UnitSet = units[~is_in(units, others)]
    return kept


def within(units: UnitSet, others: UnitSet) -> UnitSet:
    """The *units* that are among *others*."""
    kept: UnitSet = units[is_in(units, others)]
    return kept


def union_of(sets: Iterable[UnitSet]) -> UnitSet:
    """The units that are in any of *sets*."""
    return distinct(np.concatenate((EMPTY, *sets)))


def common_to(sets: Sequence[UnitSet]) -> UnitSet:
    """The units that all of *sets* have."""
    common = sets[0]
    for other in sets[1:]:
        common = within(common, other)
    return common


def array_of(numbers: Iterable[int]) -> UnitSet:
    """*numbers* as an array, ascending, each once."""
    return distinct(np.fromiter(numbers, dtype=np.uint64))


def as_links(units: UnitSet) -> UnitSet:
    """*units* with links to the page itself turned into links like any other. The result may be unsorted."""
    own = kinds_of(units) == np.uint64(Kind.OWN_LINK)
    link = np.uint64(int(Kind.LINK) << (32 + PATH_BITS))
    return np.where(own, (units & ~_KIND_BITS) | link, units)


def with_values(units: UnitSet, values: UnitSet) -> UnitSet:
    """*units* with *values* in the place of their own. The result may be unsorted."""
    return (units & ~_VALUE) | values
