"""Sorts the visits of a log by site: in memory and, beyond a limit, on disk.

A site that alone exceeds the limit is given only in part, as `sampling` says. The files belong to this process, lie
in the folder for temporary files, and are removed with the process.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from zlib import crc32

from scrapy_dust.engines.sampling import is_in
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Visit, without_repeats

#: What a visit takes beside its URL, in bytes: as a record, as a page, and in the arrays of phase 1.
_VISIT = 2400
#: And so many times the size of its units.
_UNITS = 9
#: Files that sites are spread over; one is in memory at a time.
_SHELVES = 64
#: Visits written at a time.
_CHUNK = 500
_FIELDS = tuple(field.name for field in fields(Visit))
_values = attrgetter(*_FIELDS)


def gather(visits: Iterator[Visit], most: int | None) -> Mapping[str, Sequence[Visit]]:
    """The visits by site, in their order. *most*: bytes that they may take in memory; beyond, they are `Shelved`."""
    by_site: dict[str, list[Visit]] = {}
    room = most
    for visit in without_repeats(visits):
        site = site_of(visit.url)
        if site is None:
            continue
        by_site.setdefault(site, []).append(visit)
        if room is not None and most is not None:
            room -= _size(visit)
            if room < 0:
                return Shelved(by_site, visits, most)
    return by_site


def records_of(visits: Mapping[str, Sequence[Visit]]) -> int:
    """The number of visits."""
    return visits.records if isinstance(visits, Shelved) else sum(map(len, visits.values()))


class Shelved(Mapping[str, Sequence[Visit]]):
    """Visits on disk, by site. A shelf is a file with the visits of several sites. Reading sites in the order of
    `in_turn` is fast.
    """

    def __init__(self, begun: dict[str, list[Visit]], more: Iterable[Visit], most: int) -> None:
        self._folder = TemporaryDirectory(prefix="dust-")
        self._most = most
        self._taken: Counter[str] = Counter()
        self.records = 0
        self._waiting: list[list[tuple[object, ...]]] = [[] for _ in range(_SHELVES)]
        self._open: tuple[int, dict[str, list[Visit]]] = -1, {}
        while begun:
            site, visits = begun.popitem()
            self._put(site, visits)
        for visit in more:
            site_of_it = site_of(visit.url)
            if site_of_it is not None:
                self._put(site_of_it, (visit,))
        for shelf in range(_SHELVES):
            self._write(shelf)

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()

    def _put(self, site: str, visits: Iterable[Visit]) -> None:
        """Add the *visits* of *site* to its shelf, some hundreds at a time."""
        shelf = _shelf_of(site)
        for visit in visits:
            self.records += 1
            self._taken[site] += _size(visit)
            self._waiting[shelf].append((site, *_values(visit)))
            if len(self._waiting[shelf]) == _CHUNK:
                self._write(shelf)

    def _path(self, shelf: int) -> Path:
        """The file that the number *shelf* stands for."""
        return Path(self._folder.name) / str(shelf)

    def _write(self, shelf: int) -> None:
        """Append the visits that wait for *shelf* to its file."""
        with self._path(shelf).open("ab") as file:
            pickle.dump(self._waiting[shelf], file, pickle.HIGHEST_PROTOCOL)
        self._waiting[shelf] = []

    def share(self, site: str) -> float:
        """The share of the URLs of *site* that its visits are: 1, or less if only a part of its contents or folders is
        given.
        """
        return min(1.0, self._most / self._taken[site])

    def in_turn(self) -> list[str]:
        """The sites in the order in which they are fast to read."""
        return sorted(self._taken, key=lambda site: (_shelf_of(site), -self._taken[site], site))

    def __len__(self) -> int:
        return len(self._taken)

    def __iter__(self) -> Iterator[str]:
        return iter(self.in_turn())

    def __getitem__(self, site: str) -> Sequence[Visit]:
        if site not in self._taken:
            raise KeyError(site)
        shelf = _shelf_of(site)
        if self._open[0] != shelf:
            self._open = -1, {}
            self._open = shelf, self._read(shelf)
        return self._open[1][site]

    def _read(self, shelf: int) -> dict[str, list[Visit]]:
        """The visits on *shelf* by site; of a site that exceeds the memory limit, the part that `sampling` chooses."""
        shares = {site: self.share(site) for site in self._taken if _shelf_of(site) == shelf}
        shares = {site: share for site, share in shares.items() if share < 1}
        # A URL has all of its visits or none: they tell whether its page always says the same.
        chosen = {
            visit.url
            for site, visit in (self._records(shelf) if shares else ())
            if site in shares and is_in(visit, shares[site])
        }
        by_site: dict[str, list[Visit]] = {site: [] for site in self._taken if _shelf_of(site) == shelf}
        for site, visit in self._records(shelf):
            if site not in shares or visit.url in chosen:
                by_site[site].append(visit)
        return by_site

    def _records(self, shelf: int) -> Iterator[tuple[str, Visit]]:
        """Each visit in the file of *shelf*, with its site."""
        with self._path(shelf).open("rb") as file:
            while file.peek(1):
                # Written by this process, where nobody else writes.
                for site, *values in pickle.load(file):  # noqa: S301
                    yield site, Visit(*values)


def _size(visit: Visit) -> int:
    """The bytes of memory that *visit* takes, with its units when they are unpacked."""
    units = sum(_UNITS * len(units.content) for units in (visit.units, visit.taken) if units is not None)
    return _VISIT + len(visit.url) + units


def _shelf_of(site: str) -> int:
    """The number of the shelf that has the visits of *site*."""
    return crc32(site.encode("utf-8", "surrogatepass")) % _SHELVES
