"""The contents of pages that hold nothing but links, made of the pages to which the links lead: a list of products,
say.

A spider often takes nothing from a list but its links. Then a link to the list counts by all that the links on the
list lead to. Lists of lists work the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.flat import Index
from scrapy_dust.page.unitsets import Mask

#: What URLs show, without their links.
Said = Mapping[str, int]
#: Sums of what the links of each page lead to, and how many of its links lead where the log has nothing.
Resolved = tuple[npt.NDArray[np.uint64], Index]

#: Steps through lists of links, from those whose ends the log has.
_STEPS = 3


@dataclass(frozen=True, slots=True)
class Lists:
    """The answers of a site; answers of one URL stand after each other."""

    urls: Sequence[str]
    bounds: Sequence[int]  #: where the answers of each URL begin, and how many answers there are
    core: npt.NDArray[np.uint64]  #: for each answer a sum of its units except links
    counts: Mask  #: the answers that show something, and no wall
    are_lists: Mask  #: the answers that show links only

    def said(self, said: Said, resolve: Callable[[Said], Resolved]) -> Said:
        """*said* with the contents of lists added. *resolve*: finds the contents to which links lead, given the
        contents of URLs.
        """
        said = self._without_headings(said, *resolve(said))
        for _ in range(_STEPS):
            found = self._found(*resolve(said))
            new = {url: one for url, one in found.items() if url not in said}
            if not new:
                break
            said = {**said, **new}
        return said

    def _without_headings(self, said: Said, whole: npt.NDArray[np.uint64], unknown: Index) -> Said:
        """*said* without texts that stand on pages with other links too, such as the heading of all parts of a list."""
        links: dict[int, set[int]] = {}
        for row in np.flatnonzero(self.counts & (unknown == 0)).tolist():
            links.setdefault(_short(self.core[row]), set()).add(int(whole[row]))
        return {url: one for url, one in said.items() if len(links.get(one, ())) < 2}

    def _found(self, whole: npt.NDArray[np.uint64], unknown: Index) -> dict[str, int]:
        """A content for each list in *whole* all of whose links lead to known contents."""
        found = {}
        for begin, end in pairwise(self.bounds):
            told = [row for row in range(begin, end) if self.counts[row]]
            shown = {_short(whole[row]) for row in told}
            if len(shown) == 1 and self.are_lists[told].all() and not unknown[told].any():
                found[self.urls[begin]] = shown.pop()
        return found


def _short(total: np.uint64) -> int:
    return int(total) & 0xFFFFFFFF
