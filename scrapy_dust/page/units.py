"""Units: what a spider may take from a page, as small numbers.

A unit is a place and a value. The place says where on the page something stands: a kind (text, link, …) and a path of
tags with their ids and classes, without positions. The value says what stands there. Two pages show a spider the same
if they have the same units.

A place has 24 bits: its kind in the upper three, a hash of its path in the lower 21, so that places of two kinds with
one path differ in their upper bits only. A value has 24 bits: ten of what it looks like, in the uppermost of 32, and 14
of what it is, in the lowest. In a log all units of a page are one text (`pack`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.places import (
    ALPHABET,
    EXACT_BITS,
    MAX_DIGITS,
    PACKED,
    PATH_BITS,
    SHAPE_BITS,
    VALUE,
    Kind,
)
from scrapy_dust.visits.pages import PackedUnits

#: Units of one page. Of a page with more, the units of least hash are kept, so that similar pages keep the same units.
MAX_UNITS = 4000
#: Units of one page in a log, chosen likewise. So a record takes up to five times the room that it takes without, and three
#: times where much of a page is common to all pages.
MAX_LOGGED = 400
#: Of the units kept of a page with more, one in so many may be a link. How links are written changes with the host, and
#: must not decide which texts are kept.
_LINK_SHARE = 4
#: Links that are kept of any page.
_LINKS = MAX_LOGGED // _LINK_SHARE

_EXACT = (1 << EXACT_BITS) - 1
#: Bits of a value in a log, and of numbers in which units are written.
_BITS = SHAPE_BITS + EXACT_BITS
_OF_VALUE = (1 << _BITS) - 1
_SHIFTS = np.arange(0, 5 * MAX_DIGITS, 5)
_MORE = 32  #: a digit as great is not the last of its number
_CONTINUED = ALPHABET[_MORE:]
_LETTERS = np.frombuffer(ALPHABET, np.uint8)
_DIGITS = np.zeros(256, np.uint8)
_DIGITS[_LETTERS] = np.arange(len(_LETTERS))

_32, _KEPT = np.uint64(32), np.uint64(0xFFFFFFFF << 32 | VALUE)

Numbers = npt.NDArray[np.uint32]
Index = npt.NDArray[np.int64]
_Unsigned = TypeVar("_Unsigned", bound=np.unsignedinteger)


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one page: distinct, by place and then by value, ascending."""

    places: Numbers = field(compare=False, repr=False)
    values: Numbers = field(compare=False, repr=False)  #: as many as places
    total: int  #: 64 bits, of all units in any order, also of those that are not kept; equal totals: the same units
    whole: bool = True  #: all units are here; False: only those of least hashes

    def __len__(self) -> int:
        return len(self.places)

    def kinds(self) -> Numbers:
        """The kind of each unit, as `Kind` has it."""
        return self.places >> np.uint32(PATH_BITS)

    @property
    def has_all_links(self) -> bool:
        """Whether no link is missing, though other units may be."""
        return self.whole or int(_are_links(self.kinds()).sum()) < _LINKS

    @property
    def total_of_rest(self) -> int:
        """The total of all units but links. Needs all links."""
        joined = _joined(self)
        links = joined[_are_links(self.kinds())]
        return self.total - int(mixed(links).sum(dtype=np.uint64)) & 0xFFFFFFFFFFFFFFFF


def exact_units(units: Iterable[int]) -> npt.NDArray[np.uint64]:
    """*units*, each a place times 2**32 plus 32 bits, ascending, each once, with all bits."""
    return distinct(units if isinstance(units, np.ndarray) else np.fromiter(units, np.uint64))


def units_of(units: Iterable[int]) -> Units:
    """The `Units` of numbers as `exact_units` takes them."""
    return kept_of(exact_units(units))


def kept_of(exact: npt.NDArray[np.uint64]) -> Units:
    """The `Units` that a log keeps of *exact* units: each value cut to 24 bits, and a total over all bits."""
    total = int(mixed(exact).sum(dtype=np.uint64))
    all_units = distinct(exact & _KEPT)
    kept = _least(all_units, MAX_UNITS)
    places = (kept >> _32).astype(np.uint32)
    return Units(places, kept.astype(np.uint32), total, whole=len(kept) == len(all_units))


def distinct(numbers: npt.NDArray[_Unsigned]) -> npt.NDArray[_Unsigned]:
    """*numbers*, ascending, each once: `np.unique` at a tenth of its time."""
    numbers = np.sort(numbers)
    first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    return numbers[first]


def repeated(numbers: npt.NDArray[_Unsigned]) -> npt.NDArray[_Unsigned]:
    """The *numbers* that occur more than once, ascending, each once."""
    numbers = np.sort(numbers)
    return distinct(numbers[1:][numbers[1:] == numbers[:-1]])


def sampled(units: Units, most: int) -> Units:
    """At most *most* of *units*, those with the least hashes, so that the samples of two similar pages are nearly the
    same.
    """
    if len(units) <= most:
        return units
    kept = _least(_joined(units), most)
    places = (kept >> np.uint64(32)).astype(np.uint32)
    return Units(places, kept.astype(np.uint32), units.total, whole=False)


def _joined(units: Units) -> npt.NDArray[np.uint64]:
    """Place and value of each unit as one number."""
    return units.places.astype(np.uint64) << np.uint64(32) | units.values


def _are_links(kinds: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.isin(kinds, (int(Kind.LINK), int(Kind.OWN_LINK)))
    return found


def _least(units: npt.NDArray[np.uint64], most: int) -> npt.NDArray[np.uint64]:
    """At most *most* of *units*, those of least hash; a share of them is kept free for links."""
    if len(units) <= most:
        return units
    are_links = _are_links(units >> np.uint64(32 + PATH_BITS))
    links, rest = np.flatnonzero(are_links), np.flatnonzero(~are_links)
    rest = _of_least_hashes(rest, units, most - most // _LINK_SHARE if len(links) else most)
    links = _of_least_hashes(links, units, most - len(rest))
    return units[np.sort(np.concatenate((rest, links)))]


def _of_least_hashes(
    which: npt.NDArray[np.intp], units: npt.NDArray[np.uint64], most: int
) -> npt.NDArray[np.intp]:
    """At most *most* of the indexes *which*: those whose *units* have the least hashes."""
    return which if len(which) <= most else which[np.argpartition(mixed(units[which]), most)[:most]]


def mixed(units: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The numbers *units*, each scrambled by splitmix64, so that their order is as good as random."""
    return stirred(units + np.uint64(0x9E3779B97F4A7C15))


def stirred(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """*numbers*, each scrambled by splitmix64's finalizer."""
    mixed = numbers ^ (numbers >> np.uint64(30))
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def pack(units: Units, most: int = MAX_LOGGED) -> PackedUnits:
    """*units*, at most *most* of them, as a log keeps them.

    For each unit, ascending, there is one number: how much its value is greater than that of the unit before; with a
    new place the value itself, plus 2**24 times how much the place is greater than the place before, which is -1 at
    first. A number is written in digits of five bits, the least significant first; each digit is a letter of Base64's
    alphabet, and 32 is added to all but the last.
    """
    units = sampled(units, most)
    places, values = units.places.astype(np.int64), units.values.astype(np.int64)
    values = values >> 32 - SHAPE_BITS << EXACT_BITS | values & _EXACT
    steps = np.diff(places, prepend=-1)
    numbers = np.where(steps, steps << _BITS | values, np.diff(values, prepend=0))
    rest = numbers[:, None] >> _SHIFTS
    is_digit = rest > 0
    is_digit[:, 0] = True
    digits = rest & 31
    digits[:, :-1] += is_digit[:, 1:] << 5
    return PackedUnits(_LETTERS[digits[is_digit]].tobytes(), units.total, units.whole)


def unpack(packed: PackedUnits) -> Units:
    """The units in *packed*, as `pack` has written them. Raises `ValueError` for anything else."""
    if not is_sound(packed):
        raise ValueError(f"units of {len(packed.content)} bytes, and not as they were packed")
    places, values, _ = unpacked([packed.content])
    return Units(places, values, packed.total, packed.whole)


def is_sound(packed: PackedUnits) -> bool:
    """Whether `unpack` can read *packed*."""
    return PACKED.fullmatch(packed.content) is not None


def count_in(packed: PackedUnits) -> int:
    """How many units are in *packed*."""
    return len(packed.content.translate(None, _CONTINUED))


def unpacked(contents: Sequence[bytes]) -> tuple[Numbers, Numbers, Index]:
    """The places and the values of the units in the sound *contents* of several pages, and how many there are before
    each page and at the end.
    """
    digits = _DIGITS[np.frombuffer(b"".join(contents), np.uint8)]
    ends = np.flatnonzero(digits < _MORE)
    offsets = np.searchsorted(ends, np.fromiter(accumulate(map(len, contents), initial=0), np.int64))
    numbers = _numbers(digits, ends)
    steps = numbers >> _BITS
    is_new = steps > 0
    pages = offsets[:-1][offsets[:-1] < offsets[1:]]
    is_new[pages] = True
    places = _sums_from(steps, pages) - 1
    values = _sums_from(numbers & _OF_VALUE, np.flatnonzero(is_new))
    values = (values & ~_EXACT) << 32 - SHAPE_BITS - EXACT_BITS | values & _EXACT
    return (places & _OF_VALUE).astype(np.uint32), values.astype(np.uint32), offsets


def _numbers(digits: npt.NDArray[np.uint8], ends: Index) -> Index:
    """The numbers whose last *digits* are at *ends*."""
    if not len(ends):
        return ends
    begins = np.zeros_like(ends)
    begins[1:] = ends[:-1] + 1
    shifts = np.arange(len(digits))
    shifts -= np.repeat(begins, ends - begins + 1)
    shifts *= 5
    parts = (digits & 31).astype(np.int64)
    parts <<= shifts
    numbers: Index = np.add.reduceat(parts, begins)
    return numbers


def _sums_from(numbers: Index, begins: Index) -> Index:
    """The running sums of *numbers*, anew from each of *begins*, of which the first is 0."""
    sums = np.cumsum(numbers)
    counts = np.empty_like(begins)
    counts[:-1] = begins[1:] - begins[:-1]
    counts[-1:] = len(numbers) - begins[-1:]
    sums -= np.repeat(sums[begins] - numbers[begins], counts)
    return sums
