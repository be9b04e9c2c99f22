"""Finishes the units of a document that depend on its URL and on the base of its URLs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from urllib.parse import urljoin

from scrapy_dust.page.addresses import WHITE, Addresses, Target
from scrapy_dust.page.emissions import Emission, What
from scrapy_dust.page.own import MOST_OWN_LINKS, OwnUrl, decoded, pieces_of
from scrapy_dust.page.places import REPEATED, Kind, as_kind
from scrapy_dust.page.values import value_of

_FIELD, _LINK = What.FIELD, What.LINK


class Settling:
    """Collects the finished units of one document."""

    def __init__(self, url: str, encoding: str, known: dict[tuple[str, str], dict[str, Target]]) -> None:
        self.units: list[int] = []  #: each a place times 2**32 and a value, as often as it comes
        self.links: dict[int, str] = {}  #: the URLs of links, by their values
        self._url, self._encoding = url, encoding
        self._own = OwnUrl(url)
        self._addresses = Addresses(url, encoding, known)
        self._known = known
        self._has_base = False
        self._links: list[Emission] = []

    def settle(self, emission: Emission) -> None:
        """Finish *emission*; links wait for `finish`."""
        what, unit, said, own_place = emission
        if what is _LINK:
            self._links.append(emission)
        elif what is _FIELD:
            self.units.append(own_place | REPEATED if said in self._own.repeated else unit)
        elif what is What.ADDRESS:
            self.units.append(own_place | REPEATED if said in self._own.addresses else unit)
        elif what is What.BASE:
            self._rebase(said)
        elif what in (What.MEDIA, What.FRAME):
            self.units.append(unit | self.media_value(said, own_place, is_frame=what is What.FRAME))
        elif what is What.ACTION:
            self._act(unit, said, own_place)
        else:
            self.units.append(unit)

    def media_value(self, url: str, fields: int, *, is_frame: bool = False) -> int:
        """The value of a picture or other file at *url*. *fields*: the place for the parts of its URL.

        *is_frame*: the page shows another document, whose host counts if the page has another host.
        """
        target = self._addresses.of(url)
        self.units.extend([fields | part for part in target.media_parts])
        return target.foreign if is_frame and target.foreign is not None else target.media_value

    def reference(self, url: str) -> int:
        """The value of a URL within a group: of its path and its parameters, without what the page's own URL has too."""
        found = self._addresses.of(url).url
        said = pieces_of(found)[1:] if found else [url]
        return value_of("/".join(piece for piece in said if piece not in self._own.pieces))

    def finish(self) -> list[int]:
        """All units of the document. Links are finished together here."""
        targets = [self._addresses.of(link.said) for link in self._links]
        self.links = {target.value: target.url for target in targets if target.url is not None}
        own = self._own.marks([target.url or "" for target in targets])
        self.units.extend(
            [
                (link.own_place if is_own else link.unit) | target.value
                for link, target, is_own in zip(self._links, targets, own, strict=True)
            ]
        )
        self._say_beside(
            (link.own_place, target.url or "")
            for link, target, is_own in zip(self._links, targets, own, strict=True)
            if is_own
        )
        return self.units

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

    def _act(self, place: int, said: str, own_place: int) -> None:
        target = self._addresses.of(said)
        if target.url == self._own.url or decoded(said) in self._own.repeated:
            self.units.append(own_place | REPEATED)
        else:
            self.units.append(place | target.value)

    def _rebase(self, base: str) -> None:
        if self._has_base:
            return
        self._has_base = True
        try:
            self._addresses = Addresses(urljoin(self._url, base.strip(WHITE)), self._encoding, self._known)
        except ValueError:
            return
