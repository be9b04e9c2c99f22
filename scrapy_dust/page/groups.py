"""Groups of units that stand together: texts and media of one element, such as the cells of a row or the parts of an
item.

Without groups, a page on which two items have swapped their prices would have the same units. In a list of like
elements the order does not count, but the content of each element does. Nobody can tell a list from a row of cells by
two like elements; so where an element comes again on the page, its few parts stand together all the same. A line of text is no list: a reader reads
``<b>3</b> <b>5</b>`` in order. An element that is alone at its place, with parts of different places, has nothing to
swap: its group says nothing, and would tie an item to the template around it.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from scrapy_dust.page.places import PATH_BITS, Kind

#: A part of an element, be it an element or a text: its kind, a digest, and the number of texts and media in it (its leaves).
Part = tuple[int, int, int]

#: Leaves of an element that is one item, and of a row of cells; a larger element is a part of the page.
MAX_LEAVES = 24
MAX_CELLS = 64
#: The kind of a part that is text between elements.
TEXT = 0

_MASK = (1 << 64) - 1
_FACTOR = 0x9E3779B97F4A7C15


def grouped(
    parts: list[Part], *, is_row: bool, is_line: bool = False, is_heap: bool = False
) -> tuple[int, int, list[int], bool]:
    """For an element with the *parts* (two or more): its digest, its number of leaves, its groups, and whether they
    are conditional.

    Conditional groups count only if another such element is on the page. *is_line*: the first part is an element in
    a line of text. *is_heap*: the order of the parts says nothing.
    """
    leaves, kinds = 0, set()
    for kind, _, count in parts:
        leaves += count
        kinds.add(kind)
    if not leaves:  # so many stars, of which so many are full
        digest = _in_order(parts)
        return digest, 0, [digest], False
    if is_line and len(kinds) == 1 and leaves == len(parts) <= MAX_LEAVES:
        digest = _in_order(parts)
        return digest, leaves, [digest], False
    if len(kinds) == 1 and not is_row:
        return _of_like_parts(parts, leaves, is_heap=is_heap)
    if is_row or TEXT in kinds or len(kinds) == len(parts):
        if leaves > MAX_CELLS:  # neither this nor what is around it is a group
            return 0, leaves, [], False
        digest = _in_order(parts)
        is_group = _belongs_together(
            parts, leaves, MAX_LEAVES if TEXT not in kinds and not is_row else MAX_CELLS
        )
        return digest, leaves, [digest] if is_group else [], not is_row and len(kinds) == len(parts)
    return _by_section(parts, leaves)


def _of_like_parts(parts: list[Part], leaves: int, *, is_heap: bool) -> tuple[int, int, list[int], bool]:
    """The result of `grouped` for *parts* of one kind, such as the entries of a list."""
    digest = _sum_of(parts)
    if not _belongs_together(parts, leaves, MAX_LEAVES):
        return digest, leaves, [], False
    if _show_pictures(parts):
        # So many stars are full; a gallery has each picture once.
        return digest, leaves, [digest], len({part[1] for part in parts}) == len(parts)
    return digest, leaves, [digest if is_heap else _in_order(parts)], True


def _show_pictures(parts: list[Part]) -> bool:
    """Whether all *parts* are pictures or other files."""
    return all(part[1] >> 32 + PATH_BITS == Kind.MEDIA for part in parts)


def _by_section(parts: list[Part], leaves: int) -> tuple[int, int, list[int], bool]:
    """The result of `grouped` for *parts* of several kinds that come again: one group for each section."""
    groups, digest = [], 0
    for section in _sections(parts):
        count = sum([part[2] for part in section])
        if count <= MAX_LEAVES:
            of_section = _in_order(section)
            digest += of_section
            if _belongs_together(section, count, MAX_LEAVES) and any(
                part[0] != section[0][0] for part in section
            ):
                groups.append(of_section)
    return digest & _MASK, leaves, groups, False


def _sections(parts: list[Part]) -> list[list[Part]]:
    """*parts* cut where the first kind of part comes again: terms with their definitions, headings with the text that
    follows.
    """
    kinds = [part[0] for part in parts]
    counts = Counter(kinds)
    first = next(kind for kind in kinds if counts[kind] > 1)
    begins = [at for at, kind in enumerate(kinds) if kind == first]
    cuts = begins if begins[0] == 0 else [0, *begins]
    return [parts[begin:end] for begin, end in pairwise([*cuts, len(parts)])]


def _belongs_together(parts: list[Part], leaves: int, most: int) -> bool:
    """Whether *parts* may form a group: they have at most *most* leaves, and one of them is a single leaf."""
    # Beside one text there may be parts that show something by themselves: cells that are empty, stars, a tick.
    return len(parts) > 1 and leaves <= most and any(part[2] == 1 for part in parts)


def _in_order(parts: list[Part]) -> int:
    """A digest of *parts* in their order."""
    digest = len(parts)
    for kind, said, _ in parts:
        digest = ((digest ^ kind ^ said) * _FACTOR + said) & _MASK
        digest ^= digest >> 29
    return digest


def _sum_of(parts: list[Part]) -> int:
    """A digest of *parts* in any order."""
    digest = parts[0][0]
    for _, said, _ in parts:
        mixed = (said ^ said >> 31) * _FACTOR & _MASK
        digest += mixed ^ mixed >> 29
    return digest & _MASK
