"""Remembers the units of elements that come again, such as the frame that the pages of a site have in common.

An element is told by its path, its start tag and the markup in it, character by character. Where all three are as they
were, the units in it are as they were, and nothing in it is read again. The memory saves time and changes no result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.addresses import OfSite
from scrapy_dust.page.emissions import Opened
from scrapy_dust.page.groups import Part
from scrapy_dust.page.paths import Path
from scrapy_dust.page.settling import Settling
from scrapy_dust.page.units import distinct

#: Characters in an element that is remembered.
_LEAST, _MOST = 500, 16_000
#: Characters by which an element is looked up.
_BEGINNING = 48
#: Elements of one start tag that are remembered for nothing until no more are, and what each that comes again earns.
_CREDIT, _EARNED, _MOST_CREDIT = 8, 4, 64
#: Elements of one start tag that are remembered at once.
_MOST_ALIKE = 200
#: Characters remembered for each character of a document, since elements stand inside each other.
_SHARE = 4


class Subtree(NamedTuple):
    """The units of one element, without those of its start tag."""

    inside: str  #: the markup in it
    part: Part | None  #: what it is in the element around it; None: nothing is in it
    units: npt.NDArray[np.uint64]
    rest: list[list[Any]]  #: fields, links, and whatever else `Subtrees` collects
    of_site: OfSite  #: of the site on which its pictures are these


class _Begun(NamedTuple):
    """An element that is open, and how many of everything there were when it began."""

    depth: int
    opened: Opened
    at: int  #: where its inside begins
    counts: list[int]
    unfit: int


class Subtrees:
    """Finds the elements of one document that earlier pages had, and remembers others for later pages."""

    def __init__(
        self, markup: str, settling: Settling, filled: list[Path], beside: list[tuple[int, int, int]]
    ) -> None:
        self._markup, self._settling = markup, settling
        self._rest: list[list[Any]] = [
            *(settling.fields, settling.links, settling.actions, settling.spots),
            *(filled, beside),
        ]
        self._budget = _SHARE * len(markup)
        self._begun: list[_Begun] = []
        self.depth = -1  #: of the innermost element that is to be remembered; -1: none
        self.unfit = 0  #: so many things were met that no element can be remembered with
        self.size = 0  #: of what was remembered, about

    def find(self, opened: Opened, at: int, depth: int) -> Subtree | None:
        """The known element that begins with the start tag *opened*, which ends at *at*; its units are added to the
        document's.

        None if no such element is known. If the element seems worth remembering, it is remembered when `end` is
        called at this *depth*.
        """
        known = opened.known
        if known is None:  # it comes for the second time
            opened.known, opened.credit = {}, _CREDIT
        else:
            found = known.get(self._markup[at : at + _BEGINNING])
            if (
                found is not None
                and self._markup.startswith(found.inside, at)
                and self._markup.startswith("</", at + len(found.inside))
                and found.of_site is self._settling.of_site
            ):
                opened.credit = min(opened.credit + _EARNED, _MOST_CREDIT)
                self._add(found)
                return found
        if opened.credit:
            counts = [len(self._settling.units), len(self._settling.blocks), *map(len, self._rest)]
            self._begun.append(_Begun(depth, opened, at, counts, self.unfit))
            self.depth = depth
        return None

    def end(self, at: int, part: Part | None) -> None:
        """Remember the innermost element that was begun, which ends at *at*."""
        _, opened, begin, counts, unfit = self._begun.pop()
        self.depth = self._begun[-1].depth if self._begun else -1
        length = at - begin
        if unfit != self.unfit or not _LEAST <= length <= min(_MOST, self._budget) or opened.known is None:
            return
        self._budget -= length
        opened.credit -= 1
        if len(opened.known) >= _MOST_ALIKE:
            opened.known.clear()
        inside = self._markup[begin:at]
        made = opened.known[inside[:_BEGINNING]] = self._since(counts, inside, part)
        self.size += 1 + (length + 8 * len(made.units) + 64 * sum(map(len, made.rest)) >> 9)

    def _since(self, counts: list[int], inside: str, part: Part | None) -> Subtree:
        """The units, and all else, found since *counts* were taken, as an element with the markup *inside*."""
        units, blocks, *rest = counts
        alone = self._settling.units[units:]
        of_blocks = self._settling.blocks[blocks:]
        return Subtree(
            inside,
            part,
            distinct(np.concatenate([np.fromiter(alone, np.uint64, len(alone)), *of_blocks])),
            [found[count:] for found, count in zip(self._rest, rest, strict=True)],
            self._settling.of_site,
        )

    def _add(self, known: Subtree) -> None:
        """Add the units of a *known* element, and all else in it, to the document's."""
        self._settling.blocks.append(known.units)
        for found, more in zip(self._rest, known.rest, strict=True):
            found.extend(more)
