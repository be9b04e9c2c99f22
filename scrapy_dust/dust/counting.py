"""How often hashes occur, as far as it takes to see that most occur hardly ever: in a table of fixed size."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.sorting import edges_of

Hashes = npt.NDArray[np.uint64]

_MIXED = np.uint64(0x9E3779B97F4A7C15)
#: Hashes that are counted together: sorted first, since a table is slow to go to and fro in.
_TOGETHER = 1 << 22
#: Where counts end.
_MANY = 255


class Counts:
    """Never too few, up to `_MANY`; too many where two hashes share a place."""

    def __init__(self, urls: int) -> None:
        bits = min(max((128 * urls).bit_length(), 10), 30)
        self._shift = np.uint64(64 - bits)
        self._counts = np.zeros(1 << bits, dtype=np.uint8)
        self._waiting: list[Hashes] = []
        self._room = _TOGETHER

    def add(self, hashes: Hashes) -> None:
        self._waiting.append(hashes)
        self._room -= len(hashes)
        if self._room < 0:
            self._count()

    def _count(self) -> None:
        if not self._waiting:
            return
        places = places_of(np.concatenate(self._waiting), self._shift)
        self._waiting, self._room = [], _TOGETHER
        places.sort()
        edges = edges_of(places)
        places, more = places[edges[:-1]], np.minimum(np.diff(edges), _MANY)
        self._counts[places] = np.minimum(self._counts[places] + more, _MANY)

    def at_least(self, least: int) -> Enough:
        """Which hashes may have been added *least* times."""
        self._count()
        return Enough(np.packbits(self._counts >= min(least, _MANY), bitorder="little"), self._shift)


class Enough:
    """A bit for each place of the table, which is small enough to be gone to and fro in."""

    def __init__(self, bits: npt.NDArray[np.uint8], shift: np.uint64) -> None:
        self._bits, self._shift = bits, shift

    def of(self, hashes: Hashes) -> npt.NDArray[np.bool_]:
        places = places_of(hashes, self._shift)
        bit = np.left_shift(np.uint8(1), (places & np.uint32(7)).astype(np.uint8))
        enough: npt.NDArray[np.bool_] = (self._bits[places >> np.uint32(3)] & bit) != 0
        return enough


def places_of(hashes: Hashes, shift: np.uint64) -> npt.NDArray[np.uint32]:
    """The uppermost bits of the hashes, mixed once more."""
    return ((hashes * _MIXED) >> shift).astype(np.uint32)
