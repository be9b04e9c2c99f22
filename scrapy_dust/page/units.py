"""Units: what a spider may take from a page, as small numbers.

A unit is a place and a value. The place says where on the page something stands: a kind (text, link, …) and a path of
tags with their ids and classes, without positions. The value says what stands there. Two pages show a spider the same
if they have the same units.

A place has 24 bits: its kind in the upper three, a hash of its path in the lower 21, so that places of two kinds with
one path differ in their upper bits only. A value has 24 bits: ten of what it looks like, in the uppermost of 32, and 14
of what it is, in the lowest. In a log all units of a page are one text: for each place a head of eight hexadecimal digits (the
place, and in the last two how many values follow, at most 255) and the values, six digits each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.pages import PackedUnits
from scrapy_dust.page.places import EXACT_BITS, PATH_BITS, SHAPE_BITS, VALUE, Kind

#: Of one page. Of a page with more, those of least hashes are kept, so that like pages keep the same.
MAX_UNITS = 4000
#: Of one page in a log, for the same reason. So a record takes three times the room that it takes without.
MAX_LOGGED = 400
#: Of what is kept of a page with more, one in so many may be a link. How links are written changes with the host, and
#: must not decide which texts are kept.
_LINK_SHARE = 4
#: So many links of any page are kept.
_LINKS = MAX_LOGGED // _LINK_SHARE

_RUN = 255
_EXACT = (1 << EXACT_BITS) - 1

Numbers = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Units:
    """The units of one page: distinct, those of one place together, places and values in the document's order."""

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
    """*units*, each a place times 2**32 plus 32 bits, without repetitions, in their order, with all bits."""
    return np.array(list(dict.fromkeys(units)), np.uint64)


def units_of(units: Iterable[int]) -> Units:
    """The `Units` of numbers as `exact_units` takes them."""
    return kept_of(exact_units(units))


def kept_of(distinct: npt.NDArray[np.uint64]) -> Units:
    """The `Units` made of exact units. The total covers all their bits; a value keeps 24."""
    total = int(mixed(distinct).sum(dtype=np.uint64))
    masked = distinct & np.uint64(0xFFFFFFFF << 32 | VALUE)
    distinct = np.array(list(dict.fromkeys(masked.tolist())), np.uint64)
    kept = _least(distinct, MAX_UNITS)
    kept = kept[_by_place(kept >> np.uint64(32))]
    places = (kept >> np.uint64(32)).astype(np.uint32)
    return Units(places, kept.astype(np.uint32), total, whole=len(kept) == len(distinct))


def sampled(units: Units, most: int) -> Units:
    """The at most *most* units of least hash: similar pages keep nearly the same ones."""
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


def _by_place(places: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
    """The order in which units of one place stand together, and places stand as they first came."""
    _, firsts, which = np.unique(places, return_index=True, return_inverse=True)
    return np.argsort(firsts[which], kind="stable")


def mixed(units: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """splitmix64 of each number; all of it wraps around at 2**64."""
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
    three = (
        (values >> np.uint32(32 - SHAPE_BITS)) << np.uint32(EXACT_BITS) | values & np.uint32(_EXACT)
    ).astype(">u4")
    packed = three.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()
    changes = np.flatnonzero(places[1:] != places[:-1]) + 1
    begins = [0, *changes.tolist()] if len(places) else []
    content: list[bytes] = []
    for begin, end in zip(begins, [*begins[1:], len(places)], strict=False):
        for at in range(begin, end, _RUN):
            until = min(at + _RUN, end)
            content += ((int(places[begin]) << 8 | until - at).to_bytes(4, "big"), packed[3 * at : 3 * until])
    return PackedUnits(b"".join(content), units.total, units.whole)


def unpack(packed: PackedUnits) -> Units:
    """The units that `pack` has written. Raises `ValueError` for anything else."""
    content, at = packed.content, 0
    places: list[int] = []
    counts: list[int] = []
    values: list[bytes] = []
    while at < len(content):
        head = int.from_bytes(content[at : at + 4], "big")
        count = head & _RUN
        values.append(content[at + 4 : at + 4 + 3 * count])
        places.append(head >> 8)
        counts.append(count)
        at += 4 + 3 * count
    if at > len(content):
        raise ValueError(f"units have {len(content)} bytes, and say {at}")
    found = values_in(np.frombuffer(b"".join(values), np.uint8))
    return Units(np.repeat(np.array(places, np.uint32), counts), found, packed.total, packed.whole)


def values_in(octets: npt.NDArray[np.uint8]) -> Numbers:
    """The values, of three octets each."""
    three = octets.reshape(-1, 3).astype(np.uint32)
    joined = three[:, 0] << np.uint32(16) | three[:, 1] << np.uint32(8) | three[:, 2]
    both: Numbers = (joined >> np.uint32(EXACT_BITS)) << np.uint32(32 - SHAPE_BITS) | joined & np.uint32(
        _EXACT
    )
    return both
