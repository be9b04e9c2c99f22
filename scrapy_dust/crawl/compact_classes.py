"""The classes of one crawl in memory: an entry in one dict for each, and hardly an object of its own.

A class goes by a 64-bit hash of its name, keyed anew in each process: of ten million classes, two are taken for one
with a chance of three in a million. Classes that have their page share objects. A class that has been open for long is
held as a number.
"""

from __future__ import annotations

from scrapy_dust.crawl.life import SETTLED, UNKNOWN, Class, State

#: Open classes that changed last, which are held as they are; and classes that have their page and share one object.
_OPEN, _SHARED = 512, 1024

_STATES = tuple(State)
_PLACES = {state: place for place, state in enumerate(_STATES)}


class Classes:
    """Classes by name. Of a class that is settled no more is kept than its depth and its keeper."""

    def __init__(self) -> None:
        self._classes: dict[int, Class | int] = {}
        self._settled: dict[tuple[int, int], Class] = {}
        self._open: list[int] = []
        self.waiting = self.requests = 0  #: classes for which requests wait, and these requests

    def get(self, class_key: bytes) -> Class:
        """The class *class_key*; `UNKNOWN` if nothing is known of it."""
        known = self._classes.get(hash(class_key), UNKNOWN)
        return _unpacked(known) if type(known) is int else known  # type: ignore[return-value]

    def put(self, class_key: bytes, before: Class, after: Class) -> None:
        """Let *after* be the class *class_key*, which has been *before*."""
        name = hash(class_key)
        if after.state is State.SETTLED:
            after = self._settled_class(after.depth, after.keeper)
        else:
            self._open.append(name)
        self._classes[name] = after
        if before.waiting or after.waiting:
            self.waiting += bool(after.waiting) - bool(before.waiting)
            self.requests += after.waiting - before.waiting
        if len(self._open) >= _OPEN:
            self._pack_open()

    def _settled_class(self, depth: int, keeper: int) -> Class:
        """A settled class with *depth* and *keeper*, shared by all such classes."""
        found = self._settled.get((depth, keeper))
        if found is None:
            if len(self._settled) >= _SHARED:
                self._settled.clear()
            found = self._settled[depth, keeper] = SETTLED._replace(depth=depth, keeper=keeper)
        return found

    def _pack_open(self) -> None:
        """Turn the classes that are still open into numbers, which take less memory."""
        for name in self._open:
            known = self._classes[name]
            if isinstance(known, Class) and known.state is not State.SETTLED:
                self._classes[name] = _packed(known)
        self._open.clear()


def _packed(known: Class) -> Class | int:
    """The class *known* as a number that takes no more than 32 bytes; *known* itself if such a number cannot hold it."""
    state, standing, waiting, failed, landed_on, priority, depth, keeper = known
    is_plain = landed_on is None and not priority and len(standing) < 2 and 0 <= depth < 1 << 6
    if not is_plain or waiting >= 1 << 7 or keeper >= 1 << 22:
        return known
    number = _PLACES[state] | failed << 3 | waiting << 21 | depth << 28 | keeper << 34
    return number | 1 << 4 | standing[0] << 5 if standing else number


def _unpacked(number: int) -> Class:
    """The class that `_packed` has turned into *number*."""
    return Class(
        _STATES[number & 7],
        (number >> 5 & 0xFFFF,) if number >> 4 & 1 else (),
        number >> 21 & 0x7F,
        bool(number >> 3 & 1),
        None,
        0,
        number >> 28 & 0x3F,
        number >> 34,
    )
