"""Finds near-duplicates by simhash: 64-bit simhashes that differ in at most three bits (Manku, Jain, Das Sarma, WWW
2007).

Found in permuted tables: of four blocks of sixteen bits, one at least is equal in two such hashes, so that each table
has the hashes by another block. No pair is looked at that has no block in common.

Clusters are stars, not chains: a page belongs to the first page before it that is near and is itself a centre. The
transitive closure of three bits runs through all pages of a template.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

MOST = 3  #: bits
_BITS = 64
_BLOCKS = MOST + 1
_WIDTH = _BITS // _BLOCKS
_MASK = (1 << _WIDTH) - 1


def parse_simhash(text: str | None) -> int | None:
    """The simhash in a log's hexadecimal digits; None where the text is no simhash."""
    try:
        value = int(text or "", 16)
    except ValueError:
        return None
    return value if 0 <= value < 1 << _BITS else None


def blocks(value: int) -> Iterator[tuple[int, int]]:
    """For each permuted table, its number and the block of *value* that comes first in the table."""
    for number in range(_BLOCKS):
        yield number, value >> (number * _WIDTH) & _MASK


def centres(hashes: Iterable[tuple[Hashable, int]]) -> list[int]:
    """Cluster simhashes as stars: for each hash with its kind, the position of the hash at the centre of its cluster.

    Hashes of different kinds are never in one cluster; of pages, the kind is the title.
    """
    tables: dict[tuple[Hashable, int, int], list[int]] = {}
    values: list[int] = []
    found = []
    for number, (kind, value) in enumerate(hashes):
        values.append(value)
        keys = [(kind, *block) for block in blocks(value)]
        near = (
            other
            for key in keys
            for other in tables.get(key, ())
            if (values[other] ^ value).bit_count() <= MOST
        )
        centre = min(near, default=number)
        if centre == number:
            for key in keys:
                tables.setdefault(key, []).append(number)
        found.append(centre)
    return found
