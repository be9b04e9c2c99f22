"""Paths: where on a page something stands, by the tags around it with their ids and classes.

Paths are cached between pages, since the pages of a site share them. The cache changes no result.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.places import Kind, name_of, place_of

if TYPE_CHECKING:
    from scrapy_dust.page.emissions import Opened

#: Innermost steps of a path; what stands farther out is the same for all of a page.
MAX_STEPS = 12
#: Steps below the first that are told apart.
MAX_DEPTH = 64
_MAX_STEP = 200
#: Characters of a path that are remembered for people.
_MAX_NAME = 80
_VALUE = re.compile(r"(?:textarea|option)(?:[#.]|$)")
_NUMBERED = re.compile(r"[0-9][0-9A-Za-z]*")


class Path:
    """One path, and the paths below it."""

    __slots__ = (
        "_below",
        "_depth",
        "_names",
        "_places",
        "is_data",
        "is_formula",
        "mark",
        "opened",
        "steps",
        "text",
    )

    def __init__(
        self,
        steps: tuple[str, ...],
        depth: int,
        names: dict[int, str],
        *,
        is_data: bool = False,
        is_formula: bool = False,
    ) -> None:
        self.steps, self._depth, self._names = steps, depth, names
        self.is_data = is_data  #: the tags are those of XML, and mean nothing that is known
        #: of MathML, where the order of all parts counts
        self.is_formula = is_formula or steps[-1:] == ("math",)
        self.mark = xxh3_64_intdigest(steps[-1].encode("utf-8", "surrogatepass")) if steps else 0
        self.opened: dict[str, Opened] = {}  #: what each start tag makes here
        self.text = 0  #: the place of its text, as `at` has it; 0: not asked for yet
        self._below: dict[str, Path] = {}
        self._places: dict[str, list[int]] = {}  #: by attribute, a place for each kind

    def text_place(self) -> int:
        """The place of text directly in this path."""
        is_value = not self.is_data and self.steps and _VALUE.match(self.steps[-1])
        self.text = self.at(Kind.FIELD if is_value else Kind.TEXT)
        return self.text

    def below(self, step: str) -> Path:
        """The path of the element *step* inside this one."""
        found = self._below.get(step)
        if found is None:
            if self._depth == MAX_DEPTH:
                return self
            steps = (*self.steps[1 - MAX_STEPS :], step)
            found = Path(
                steps, self._depth + 1, self._names, is_data=self.is_data, is_formula=self.is_formula
            )
            self._below[step] = found
        return found

    def is_in(self, ident: str) -> bool:
        """Whether an element of this path has the id *ident*, which has no number."""
        return any(f"{step}.".partition("#")[2].startswith(f"{ident}.") for step in self.steps)

    def at(self, kind: Kind, inside: str = "") -> int:
        """The number of the place of *kind* in this path, as the upper bits of a unit: the lower 32 are the value's. *inside*: the
        name of the attribute, for a place in an attribute.
        """
        places = self._places.get(inside)
        if places is None:
            places = self._places[inside] = [0] * len(Kind)
        return places[kind] or self._place(places, kind, inside)

    def places_of_links(self, inside: str = "") -> tuple[int, int]:
        """The places of links in the attribute *inside*: of others, and of links to the page itself."""
        self.at(Kind.OWN, inside)  # so that it has a name
        return self.at(Kind.LINK, inside), self.at(Kind.OWN_LINK, inside)

    def _place(self, places: list[int], kind: Kind, inside: str) -> int:
        """Make the number of the place of *kind*, kept in *places*, and note the place's name."""
        path = " ".join(self.steps) + inside
        place = place_of(kind, path)
        self._names.setdefault(place, name_of(kind, path[-_MAX_NAME:]))
        places[kind] = place << 32
        return places[kind]


@lru_cache(maxsize=20_000)
def step_of(tag: str, ident: str, classes: str) -> str:
    """A step of a path, such as `li#item-#.first.new`. All numbers become ``#``."""
    named = f"#{ident}" if ident else ""
    if classes:
        named = ".".join((named, *sorted(set(classes.split()))))
    return (tag + unnumbered(named))[:_MAX_STEP]


def unnumbered(name: str) -> str:
    """*name* with each number replaced by ``#``."""
    return _NUMBERED.sub("#", name)[:_MAX_STEP]
