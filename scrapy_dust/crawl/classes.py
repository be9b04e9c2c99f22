"""Classes whose page has not come yet, and the aliases that can still bring it.

Of a class, one URL is fetched: it *stands* for the class. Until it has an outcome, the aliases that were
filtered because of it are kept as its *heirs*. A page settles the class and frees them; when nothing
stands for the class any more and no page came, the next heir is handed out, to stand for it in turn. Nothing
here knows what a request is, nor why it failed.

A class that is settled takes no memory. One that waits takes about as much as a request in a queue; heirs
beyond a bound go where there is room for them (`Overflow`), so that none is ever forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

Heir = TypeVar("Heir")

#: So many aliases of one class are kept in memory.
HEIRS_PER_CLASS = 8

#: So many aliases are kept in memory in all: some 200 MB of requests.
HEIRS_IN_ALL = 100_000


class Overflow(Protocol[Heir]):
    """Where heirs are for whom there is no room in memory; of each class the oldest comes back first."""

    def put(self, key: bytes, url: str, heir: Heir) -> bool:
        """False: this one cannot be kept there."""

    def take(self, key: bytes) -> tuple[str, Heir] | None: ...

    def forget(self, key: bytes) -> None: ...


@dataclass(slots=True)
class _Class(Generic[Heir]):
    standing: tuple[str, ...] = ()  #: URLs that were let through and have no outcome yet
    heirs: tuple[tuple[str, Heir], ...] = ()  #: the oldest first
    overflowed: bool = False  #: there are heirs elsewhere, all of them later ones
    tried: set[str] | None = None  #: URLs that had their turn; made when needed, since most classes have none
    failed: bool = False  #: one of them brought no page
    resting: bool = False  #: it is believed to have its page, under a URL of another class
    landed_on: bytes | None = None  #: that class
    in_doubt: bool = False  #: whether it is, is being tried with another URL


class WaitingClasses(Generic[Heir]):
    """All classes without a page, by key."""

    def __init__(self, overflow: Overflow[Heir]) -> None:
        self._classes: dict[bytes, _Class[Heir]] = {}
        self._with_heirs: dict[bytes, None] = {}  # a set that keeps its order, so that crawls can be repeated
        self._room = HEIRS_IN_ALL
        self._overflow = overflow

    def stand(self, key: bytes, url: str) -> None:
        """*url* is let through for its class."""
        waiting = self._classes.setdefault(key, _Class())
        if url not in waiting.standing:
            waiting.standing += (url,)

    def is_waiting(self, key: bytes) -> bool:
        waiting = self._classes.get(key)
        return waiting is not None and not waiting.resting

    def stands(self, key: bytes, url: str) -> bool:
        """Whether *url* was let through and has no outcome yet."""
        waiting = self._classes.get(key)
        return waiting is not None and url in waiting.standing

    def has_failed(self, key: bytes) -> bool:
        """Whether all that stood for the class brought no page."""
        waiting = self._classes.get(key)
        return waiting is not None and not waiting.standing and not waiting.resting

    def may_stand(self, key: bytes, url: str) -> bool:
        """Whether the class failed and *url* has not been tried for it."""
        return self.has_failed(key) and url not in (self._classes[key].tried or ())

    def was_tried(self, key: bytes, url: str) -> bool:
        """Whether *url* was let through for a class that still waits."""
        waiting = self._classes.get(key)
        return waiting is not None and (url in waiting.standing or url in (waiting.tried or ()))

    def keep(self, key: bytes, url: str, heir: Heir) -> bool:
        """Remember a filtered alias. False: there is no room anywhere, and it must be let through instead."""
        waiting = self._classes.get(key)
        if waiting is None or self.was_tried(key, url) or any(url == kept for kept, _ in waiting.heirs):
            return True
        has_room = self._room > 0
        if waiting.overflowed or not has_room or len(waiting.heirs) >= HEIRS_PER_CLASS:
            if self._overflow.put(key, url, heir):
                waiting.overflowed = True
                self._with_heirs[key] = None
                return True
            if not has_room:
                return False
        self._room -= 1
        self._with_heirs[key] = None
        waiting.heirs += ((url, heir),)
        return True

    def settle(self, key: bytes) -> bool:
        """The class has its page. True if an earlier URL of it had failed."""
        waiting = self._classes.pop(key, None)
        if waiting is None:
            return False
        self._room += len(waiting.heirs)
        self._with_heirs.pop(key, None)
        if waiting.overflowed:
            self._overflow.forget(key)
        return waiting.failed

    def rest(self, key: bytes, landed_on: bytes) -> None:
        """The class seems to have its page, which is that of another class.

        It keeps its heirs in case that turns out wrong: then it fails. `orphans` has the next of them tried,
        when all else is done; if it lands on the same page, that settles it.
        """
        waiting = self._classes.get(key)
        if waiting is None:
            return
        if waiting.in_doubt and waiting.landed_on == landed_on:
            self.settle(key)
            return
        waiting.resting = True
        waiting.landed_on = landed_on
        waiting.tried = {*waiting.standing, *(waiting.tried or ())}
        waiting.standing = ()

    def fail(self, key: bytes, url: str) -> Heir | None:
        """*url* brought no page. The heir to queue now, if nothing else stands for the class."""
        waiting = self._classes.get(key)
        if waiting is None:
            return None
        waiting.resting = False
        waiting.failed = True
        waiting.tried = {url, *(waiting.tried or ())}
        waiting.standing = tuple(other for other in waiting.standing if other != url)
        return None if waiting.standing else self._next_heir(key, waiting)

    def orphans(self) -> Iterator[Heir]:
        """One heir of each class that has any, when it is known that nothing that stands can still succeed."""
        for key in tuple(self._with_heirs):
            waiting = self._classes[key]
            waiting.failed = waiting.failed or not waiting.resting
            waiting.in_doubt, waiting.resting = waiting.resting, False
            waiting.tried = {*waiting.standing, *(waiting.tried or ())}
            waiting.standing = ()
            heir = self._next_heir(key, waiting)
            if heir is not None:
                yield heir

    def dump(self, freeze: Callable[[Heir], Any]) -> dict[bytes, Any]:
        """All classes as plain values, for `load`. Heirs that *freeze* makes None are left out."""
        return {
            key: (
                waiting.standing,
                tuple((url, frozen) for url, heir in waiting.heirs if (frozen := freeze(heir)) is not None),
                waiting.overflowed,
                waiting.tried,
                waiting.failed,
                waiting.resting,
                waiting.landed_on,
                waiting.in_doubt,
            )
            for key, waiting in self._classes.items()
        }

    def load(self, dumped: dict[bytes, Any], thaw: Callable[[Any], Heir]) -> None:
        for key, (standing, heirs, overflowed, *rest) in dumped.items():
            thawed = tuple((url, thaw(heir)) for url, heir in heirs)
            self._classes[key] = _Class(standing, thawed, overflowed, *rest)
            self._room -= len(heirs)
            if heirs or overflowed:
                self._with_heirs[key] = None

    def _next_heir(self, key: bytes, waiting: _Class[Heir]) -> Heir | None:
        while (found := self._taken(key, waiting)) is not None:
            url, heir = found
            if url not in (
                waiting.tried or ()
            ):  # one kept elsewhere may have been seen, and tried, again since
                return heir
        return None

    def _taken(self, key: bytes, waiting: _Class[Heir]) -> tuple[str, Heir] | None:
        if waiting.heirs:
            found, *rest = waiting.heirs
            waiting.heirs = tuple(rest)
            self._room += 1
        else:
            later = self._overflow.take(key) if waiting.overflowed else None
            waiting.overflowed = later is not None
            if later is None:
                self._with_heirs.pop(key, None)
                return None
            found = later
        if not waiting.heirs and not waiting.overflowed:
            self._with_heirs.pop(key, None)
        return found
