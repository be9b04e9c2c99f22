"""Finishes the units of a document that can be made only once the document's own URL and base URL are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from urllib.parse import urljoin

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.addresses import WHITE, Addresses, Known, OfSite
from scrapy_dust.page.emissions import Emission, Emissions, Field, Link, What
from scrapy_dust.page.own import MOST_OWN_LINKS, OwnUrl, decoded, end_of, pieces_of
from scrapy_dust.page.places import CANONICAL, REPEATED, Kind, as_kind, url_value
from scrapy_dust.page.values import value_of


class Settling:
    """Collects the units of one document. What depends on the document's URL waits for `finish`."""

    def __init__(self, url: str, encoding: str, known: Known) -> None:
        self.units: list[int] = []  #: each a place times 2**32 and a value, as often as it comes
        self.blocks: list[npt.NDArray[np.uint64]] = []  #: units as well
        self.fields: list[Field] = []
        self.links: list[Link] = []
        self.actions: list[Emission] = []
        self.spots: list[tuple[int, str]] = []  #: names of spots to which links lead, with the links' places
        self.ends: dict[int, str] = {}  #: the URLs of links, by their values
        self._url, self._encoding = url, encoding
        self._own = OwnUrl(url)
        self._addresses = Addresses(url, encoding, known)
        self._known = known
        self._has_base = False

    @property
    def of_site(self) -> OfSite:
        """The knowledge of the URLs of the document's site."""
        return self._addresses.of_site

    def add(self, emissions: Emissions) -> None:
        """Add all of *emissions*."""
        self.units += emissions.units
        self.fields += emissions.fields
        self.links += emissions.links
        for emission in emissions.others:
            self.add_other(emission)

    def add_other(self, emission: Emission) -> None:
        """Add an emission that is neither a finished unit, a field nor a link."""
        what, unit, said, beside = emission
        if what is What.MEDIA or what is What.FRAME:
            self.units.append(unit | self.media_value(said, beside, is_frame=what is What.FRAME))
        elif what is What.ACTION or what is What.CANONICAL:
            self.actions.append(emission)
        elif what is What.SPOT:
            self.spots.append((unit, said))
        elif what is What.ADDRESS:
            self.units.append(beside | REPEATED if said in self._own.addresses else unit)
        else:
            self._rebase(said)

    def media_value(self, url: str, fields: int, *, is_frame: bool = False) -> int:
        """A hash that names the picture or other file at *url*; the parts of the URL become units at the place
        *fields*.

        *is_frame*: the URL is of an embedded document, whose host counts if it is not the page's host.
        """
        medium = self._addresses.medium(url)
        if medium.parts:
            self.units.extend([fields | part for part in medium.parts])
        return medium.foreign if is_frame and medium.foreign is not None else medium.value

    def reference(self, url: str) -> int:
        """The value of a URL within a group: of its path and its parameters, without what the page's own URL has too."""
        found = self._addresses.link(url)[0]
        said = pieces_of(found)[1:] if found else [url]
        return value_of("/".join(piece for piece in said if piece not in self._own.pieces))

    def finish(self) -> npt.NDArray[np.uint64]:
        """All units of the document, as often as they come."""
        self._finish_actions()
        self._name_spots()
        repeated = self._own.repeated
        self.units += [own | REPEATED if said in repeated else unit for unit, own, said in self.fields]
        targets = self._addresses.targets([link[2] for link in self.links])
        self.ends.update((value, url) for url, value in targets if url is not None)
        units = [place | value for (place, _, _), (_, value) in zip(self.links, targets, strict=True)]
        own = self._own.repeated_in([url or "" for url, _ in targets])
        for at in own:
            units[at] = self.links[at][1] | targets[at][1]
        self.units += units
        self._say_beside((self.links[at][1], targets[at][0] or "") for at in sorted(own))
        return np.concatenate([np.fromiter(self.units, np.uint64, len(self.units)), *self.blocks])

    def said_in_links(self) -> Iterator[tuple[int, int, list[str]]]:
        """For each link that may have a token: its unit, its end as `end_of` has it, and the parts of its URL that
        the page's own URL lacks. A link for the page itself comes twice, the second time as a link like any other.
        """
        actions = [(one[1], one[1], one[2]) for one in self.actions if one[0] is What.ACTION]
        links = [*self.links, *actions]
        for (place, own_place, _), (url, value) in zip(
            links, self._addresses.targets([link[2] for link in links]), strict=True
        ):
            if url is not None and (said := self._own.parts_beside(url)):
                for at in {place, own_place}:
                    yield at | value, end_of(url), said

    def _say_beside(self, own_links: Iterable[tuple[int, str]]) -> None:
        """Add a unit for each place with few links for the page itself: what these links say beside the page's own URL.

        A login link says the same on each page. A link to an item says which item. A link to the page's own path with other
        parameters leads to another view of the page, and does not count.
        """
        by_place: dict[int, dict[str, None]] = {}
        for place, url in own_links:
            by_place.setdefault(place, {})[url] = None
        few = {
            place: others
            for place, urls in by_place.items()
            if len(urls) <= MOST_OWN_LINKS
            and (others := [url for url in urls if not self._own.is_path_of(url)])
        }
        listed = list(dict.fromkeys(chain.from_iterable(few.values())))
        beside = dict(zip(listed, self._own.beside(listed), strict=True))
        for place, urls in few.items():
            said = "\n".join(sorted({beside[url] for url in urls}))
            self.units.append(as_kind(place >> 32, Kind.OWN) << 32 | value_of(f"beside {said}"))

    def _finish_actions(self) -> None:
        """Finish the URLs that may be the page's own."""
        for what, place, said, own_place in self.actions:
            url, value = self._addresses.link(said)
            if what is What.CANONICAL:
                self._add_canonical(url)
                continue
            if url is not None:
                self.ends[value] = url
            is_own = url == self._own.url or decoded(said) in self._own.repeated
            self.units.append(own_place | REPEATED if is_own else place | value)
        self.actions.clear()

    def _add_canonical(self, url: str | None) -> None:
        """Add the URL that the page names as its own, as one of the page's host: sites name theirs, however it is called."""
        if url is None:
            return
        url = self._own.on_host(url)
        self.ends[url_value(url)] = url
        self.units.append(CANONICAL << 32 | url_value(url))

    def _name_spots(self) -> None:
        """Add one unit for each place whose links lead to spots."""
        names: dict[int, set[str]] = {}
        for place, spot in self.spots:
            names.setdefault(place, set()).add(spot)
        self.units += [place | value_of("\n".join(sorted(spots))) for place, spots in names.items()]

    def _rebase(self, base: str) -> None:
        """Resolve the URLs that come from here on by *base*, if it is the first one. Links are resolved at the end."""
        self._finish_actions()
        if self._has_base:
            return
        self._has_base = True
        try:
            self._addresses = Addresses(urljoin(self._url, base.strip(WHITE)), self._encoding, self._known)
        except ValueError:
            return
