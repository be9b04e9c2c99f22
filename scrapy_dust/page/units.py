"""Units: what a spider may take from a page, as small numbers.

A unit is a place and a value. The place says where on the page something stands: a kind (text, link, …) and a path of
tags with their ids and classes, without positions. The value says what stands there. Two pages show a spider the same
if they have the same units.

A place has 24 bits: its kind in the upper three, a hash of its path in the lower 21, so that places of two kinds with
one path differ in their upper bits only. A value has 24 bits: ten of what it looks like, in the uppermost of 32, and 14
of what it is, in the lowest. In a log all units of a page are one text, Base64 of
numbers of 24 bits: for each place the place, how many values follow, and the values, ascending.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.places import EXACT_BITS, PATH_BITS, SHAPE_BITS, VALUE, Kind
from scrapy_dust.visits.pages import PackedUnits

#: Of one page. Of a page with more, those of least hashes are kept, so that like pages keep the same.
MAX_UNITS = 4000
#: Of one page in a log, for the same reason. So a record takes three times the room that it takes without.
MAX_LOGGED = 400
#: Of what is kept of a page with more, one in so many may be a link. How links are written changes with the host, and
#: must not decide which texts are kept.
_LINK_SHARE = 4
#: So many links of any page are kept.
_LINKS = MAX_LOGGED // _LINK_SHARE

_EXACT = (1 << EXACT_BITS) - 1

_32, _KEPT = np.uint64(32), np.uint64(0xFFFFFFFF << 32 | VALUE)

Numbers = npt.NDArray[np.uint32]
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
    """Those of *numbers* that are there more than once, ascending, each once."""
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
    return units.places.astype(np.uint64) << np.uint64(32) | units.values


def _are_links(kinds: npt.NDArray[np.unsignedinteger]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = np.isin(kinds, (int(Kind.LINK), int(Kind.OWN_LINK)))
    return found


def _least(units: npt.NDArray[np.uint64], most: int) -> npt.NDArray[np.uint64]:
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
    return which if len(which) <= most else which[np.argpartition(mixed(units[which]), most)[:most]]


def mixed(units: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The numbers *units*, each scrambled by splitmix64, so that their order is as good as random."""
    mixed = units + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def pack(units: Units, most: int = MAX_LOGGED) -> PackedUnits:
    """*units*, at most *most* of them, as a log keeps them."""
    units = sampled(units, most)
    places, values = units.places, units.values
    is_first = np.ones(len(places), np.bool_)
    np.not_equal(places[1:], places[:-1], out=is_first[1:])
    begins = np.flatnonzero(is_first)
    words = np.empty(len(places) + 2 * len(begins), ">u4")
    heads = begins + 2 * np.arange(len(begins))
    words[heads], words[heads + 1] = places[begins], np.diff(begins, append=len(places))
    exact = values & np.uint32(_EXACT)
    words[are_values(len(words), heads)] = (
        values >> np.uint32(32 - SHAPE_BITS) << np.uint32(EXACT_BITS) | exact
    )
    return PackedUnits(words.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes(), units.total, units.whole)


def unpack(packed: PackedUnits) -> Units:
    """The units in *packed*, bytes that `pack` has written. Raises `ValueError` for anything else."""
    heads = heads_in(packed.content)
    if heads is None:
        raise ValueError(f"units of {len(packed.content)} bytes, and not as they were packed")
    words = words_in(np.frombuffer(packed.content, np.uint8))
    at = np.array(heads, np.int64)
    places = np.repeat(words[at], words[at + 1])
    return Units(places, values_in(words[are_values(len(words), at)]), packed.total, packed.whole)


def heads_in(content: bytes) -> list[int] | None:
    """The words of packed units at which groups begin; None: they are not as `pack` writes them."""
    heads, at = [], 0
    while at + 5 < len(content):
        heads.append(at // 3)
        at += 6 + 3 * int.from_bytes(content[at + 3 : at + 6], "big")
    return heads if at == len(content) else None


def words_in(octets: npt.NDArray[np.uint8]) -> Numbers:
    """The numbers of three octets each."""
    three = octets.reshape(-1, 3).astype(np.uint32)
    words: Numbers = three[:, 0] << np.uint32(16) | three[:, 1] << np.uint32(8) | three[:, 2]
    return words


def are_values(count: int, heads: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """A mask of those of *count* words that are values, where groups begin at *heads*, each with its place and its number of
    values.
    """
    mask = np.ones(count, np.bool_)
    mask[heads] = mask[heads + 1] = False
    return mask


def values_in(words: Numbers) -> Numbers:
    """The values that are packed as *words*."""
    both: Numbers = words >> np.uint32(EXACT_BITS) << np.uint32(32 - SHAPE_BITS) | words & np.uint32(_EXACT)
    return both
