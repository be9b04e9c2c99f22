"""Finishes the units of a document that depend on its URL and on the base of its URLs."""

from __future__ import annotations

from urllib.parse import urljoin

from scrapy_dust.page.addresses import WHITE, Addresses, Target
from scrapy_dust.page.emissions import Emission, What
from scrapy_dust.page.own import OwnUrl, decoded

#: As the value of all that repeats the page's own URL.
_REPEATED = 1
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
            self.units.append(own_place | _REPEATED if said in self._own.repeated else unit)
        elif what is What.ADDRESS:
            self.units.append(own_place | _REPEATED if said in self._own.addresses else unit)
        elif what is What.BASE:
            self._rebase(said)
        elif what is What.MEDIA:
            self.units.append(unit | self.media_value(said, own_place))
        elif what is What.ACTION:
            self._act(unit, said, own_place)
        else:
            self.units.append(unit)

    def media_value(self, url: str, fields: int) -> int:
        """The value of a picture or other file at *url*. *fields*: the place for the parts of its URL."""
        target = self._addresses.of(url)
        self.units.extend([fields | part for part in target.media_parts])
        return target.media_value

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
        return self.units

    def _act(self, place: int, said: str, own_place: int) -> None:
        target = self._addresses.of(said)
        if target.url == self._own.url or decoded(said) in self._own.repeated:
            self.units.append(own_place | _REPEATED)
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
