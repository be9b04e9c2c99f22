"""The requests that rules suppressed in this crawl, whole, for the case that a rule turns out to be false.

They are kept as Scrapy's disk queues keep requests, but compressed, some hundred bytes each: in a file without a
name that goes with the crawl, or in its JOBDIR. Requests whose callback is no method of the spider, or that
cannot be pickled, are kept in memory, as in Scrapy's queues, and not more of them than `KEPT_LIVE`.
"""

from __future__ import annotations

import json
import pickle
import struct
import tempfile
import zlib
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import xxhash
from scrapy import Request
from scrapy.utils.request import request_from_dict

if TYPE_CHECKING:
    from scrapy import Spider

#: Beyond it a request is let through that would have to be kept in memory.
KEPT_LIVE = 20_000

#: In a JOBDIR.
FILE = "dust-victims"

#: Requests that are compressed together.
_TOGETHER = 256
_LENGTHS = struct.Struct(">II")

#: The ids of the rules that suppressed it, its URL, and the request as it is kept.
_Record = tuple[tuple[str, ...], str, bytes]


class Victims:
    """*jobdir*: where it is kept for a crawl that goes on later; *folder*: of the file without a name."""

    def __init__(self, folder: Path, jobdir: str | None = None) -> None:
        self._folder = folder
        self._path = None if jobdir is None else Path(jobdir, FILE)
        self._file: BinaryIO | None = None
        self._blocks: list[tuple[frozenset[str], int, int]] = []  #: ids in it, where it begins, its length
        self._recent: list[_Record] = []
        self._live: list[tuple[tuple[str, ...], Request]] = []
        self._returned: set[int] = set()  #: hashes of URLs
        self._latest: BinaryIO | None = None  #: in a JOBDIR, what is not compressed yet
        if self._path is not None and self._path.exists():
            self._open()
            self._returned.update(_numbers_in(self._beside(".returned")))

    def keep(self, request: Request, rules: Iterable[str], frozen: dict[str, Any] | None) -> bool:
        """Remember *request*, suppressed by *rules*, which are ids. False: there is no room for it.

        Raises `OSError` where the disk does not take it.
        """
        ids = tuple(rules)
        self._returned.discard(_hash(request.url))
        kept = None if frozen is None else _pickled(frozen)
        if kept is None:
            if len(self._live) >= KEPT_LIVE:
                return False
            self._live.append((ids, request))
            return True
        record = ids, request.url, kept
        if self._path is not None:
            self._write_ahead(record)
        self._recent.append(record)
        if len(self._recent) >= _TOGETHER:
            self._write()
        return True

    def leave_out(self, url: str) -> None:
        """*url* came to the spider in another way."""
        self._returned.add(_hash(url))

    def of(self, rule: str, spider: Spider) -> Iterator[tuple[tuple[str, ...], Request]]:
        """Each request that *rule* suppressed, with all rules that did, the newest first; each is given once.

        A request whose callback the spider no longer has gets the default one.
        """
        for ids, request in reversed(self._live):
            if rule in ids and self._is_given(request.url):
                yield ids, request
        self._live = [one for one in self._live if rule not in one[0]]
        for records in self._newest_first(rule):
            for ids, url, kept in reversed(records):
                if rule in ids and self._is_given(url):
                    yield ids, _thawed(pickle.loads(kept), spider)  # noqa: S301  Written by this crawl, or in its JOBDIR.

    def close(self) -> None:
        if self._path is not None and self._recent:
            self._write()
        if self._path is not None and self._returned:
            self._beside(".returned").write_bytes(array("Q", self._returned).tobytes())
        for file in (self._file, self._latest):
            if file is not None:
                file.close()
        self._file = self._latest = None

    def _is_given(self, url: str) -> bool:
        number = _hash(url)
        if number in self._returned:
            return False
        self._returned.add(number)
        return True

    def _newest_first(self, rule: str) -> Iterator[list[_Record]]:
        yield self._recent[:]
        for ids, begin, length in reversed(self._blocks[:]):
            if rule in ids:
                assert self._file is not None
                self._file.seek(begin)
                yield pickle.loads(zlib.decompress(self._file.read(length)))  # noqa: S301  As above.

    def _write(self) -> None:
        if self._file is None:
            self._open()
        assert self._file is not None
        ids = sorted({rule for record in self._recent for rule in record[0]})
        head, data = json.dumps(ids).encode("ascii"), zlib.compress(pickle.dumps(self._recent), 1)
        begin = self._file.seek(0, 2)
        self._file.write(_LENGTHS.pack(len(head), len(data)) + head + data)
        self._file.flush()
        self._blocks.append((frozenset(ids), begin + _LENGTHS.size + len(head), len(data)))
        self._recent = []
        if self._latest is not None:
            self._latest.truncate(0)

    def _write_ahead(self, record: _Record) -> None:
        """So that a job that is killed loses none."""
        if self._file is None:
            self._open()
        assert self._latest is not None
        self._latest.write(pickle.dumps(record))

    def _beside(self, suffix: str) -> Path:
        assert self._path is not None
        return self._path.with_name(self._path.name + suffix)

    def _open(self) -> None:
        if self._path is None:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
            except OSError:  # a folder that only others may write
                self._file = cast("BinaryIO", tempfile.TemporaryFile())  # noqa: SIM115
            return
        self._path.touch(0o600, exist_ok=True)
        self._file = self._path.open("r+b")
        self._blocks = list(_blocks_in(self._file))
        # What a kill cut short would hide what comes after it.
        whole = self._blocks[-1][1] + self._blocks[-1][2] if self._blocks else 0
        self._file.truncate(whole)
        latest = self._beside(".latest")
        latest.touch(0o600, exist_ok=True)
        self._recent = list(_records_in(latest))
        self._latest = latest.open("ab", buffering=0)


def _blocks_in(file: BinaryIO) -> Iterator[tuple[frozenset[str], int, int]]:
    size, at = file.seek(0, 2), 0
    while at + _LENGTHS.size <= size:
        file.seek(at)
        of_head, of_data = _LENGTHS.unpack(file.read(_LENGTHS.size))
        begin = at + _LENGTHS.size + of_head
        if begin + of_data > size:
            return
        yield frozenset(json.loads(file.read(of_head))), begin, of_data
        at = begin + of_data


def _records_in(file: Path) -> Iterator[_Record]:
    """As far as they are whole."""
    with file.open("rb") as stream:
        while True:
            try:
                yield pickle.load(stream)  # noqa: S301  As above.
            except (EOFError, pickle.UnpicklingError):
                return


def _numbers_in(file: Path) -> array[int]:
    numbers = array("Q")
    with suppress(FileNotFoundError):
        numbers.frombytes(file.read_bytes())
    return numbers


def _pickled(frozen: dict[str, Any]) -> bytes | None:
    try:
        return pickle.dumps(frozen)
    except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError):
        return None


def _thawed(kept: dict[str, Any], spider: Spider) -> Request:
    # A job may go on with a spider that was edited meanwhile.
    for name in ("callback", "errback"):
        if kept.get(name) and not hasattr(spider, kept[name]):
            kept[name] = None
    return request_from_dict(kept, spider=spider)


def _hash(url: str) -> int:
    return xxhash.xxh64_intdigest(url.encode("utf-8", "surrogatepass"))
