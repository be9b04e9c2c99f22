"""Names of the places on pages (the tags around a text, say), by which a verdict says where two pages differ.

A log tells the name of a place once in each file, with the second page that has such a place: half of all places are on
one page only.
"""

from __future__ import annotations

from collections.abc import Mapping

#: Told in one file.
MAX_NAMES = 20_000
_MAX_SEEN = 200_000


class Naming:
    """The names of places that one log file has written already."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._told: set[int] = set()

    def new_names(self, names: Mapping[int, str]) -> str:
        """The new ones among *names*, as text for the field ``places``: a line for each place and its name."""
        again = names.keys() & self._seen
        new = sorted(again - self._told)[: MAX_NAMES - len(self._told)]
        self._told.update(new)
        if len(self._seen) < _MAX_SEEN:
            self._seen.update(names)
        return "\n".join([f"{place:06x} {names[place]}" for place in new])


def names_in(said: str) -> dict[int, str]:
    """The names of places on pages, by the numbers of the places, from the text of a field ``places``; all else is
    ignored.
    """
    found: dict[int, str] = {}
    for line in said.splitlines():
        place, _, name = line.partition(" ")
        try:
            found[int(place, 16)] = name
        except ValueError:
            continue
    return found
