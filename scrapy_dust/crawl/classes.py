"""Classes whose page has not come yet, and the aliases that can still bring it.

Of a class, one URL is fetched: it *stands* for the class. Until it has an outcome, a few of the aliases that
were filtered because of it are kept as its *heirs*. A page settles the class and frees them; when nothing
stands for the class any more and no page came, the next heir is handed out, to stand for it in turn. Nothing
here knows what a request is, nor why it failed.

A class that is settled takes no memory. One that waits takes about as much as a request in a queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Heir = TypeVar("Heir")

#: So many aliases of one class are kept. All of them, and what stands for the class, must fail before an alias
#: is lost that was filtered and found no place; one that comes later is not filtered at all.
HEIRS_PER_CLASS = 8

#: So many aliases are kept in all: some 200 MB of requests. Beyond it, each class lets one alias through into
#: the queue instead of keeping it, so that memory is bounded and still no class hangs on one URL.
HEIRS_IN_ALL = 100_000


@dataclass(slots=True)
class _Class(Generic[Heir]):
    standing: tuple[str, ...] = ()  #: URLs that were let through and have no outcome yet
    heirs: tuple[tuple[str, Heir], ...] = ()  #: the oldest first
    failed: set[str] | None = (
        None  #: URLs that brought no page; made when needed, since most classes never do
    )
    resting: bool = False  #: it is believed to have its page, under a URL of another class


class WaitingClasses(Generic[Heir]):
    """All classes without a page, by key."""

    def __init__(self) -> None:
        self._classes: dict[bytes, _Class[Heir]] = {}
        self._with_heirs: dict[bytes, None] = {}  # a set that keeps its order, so that crawls can be repeated
        self._room = HEIRS_IN_ALL

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

    def may_stand(self, key: bytes, url: str) -> bool:
        """Whether the class failed and *url* has not been tried for it."""
        waiting = self._classes.get(key)
        if waiting is None or waiting.standing or waiting.resting:
            return False
        return url not in (waiting.failed or ())

    def was_tried(self, key: bytes, url: str) -> bool:
        """Whether *url* was let through for a class that still waits."""
        waiting = self._classes.get(key)
        return waiting is not None and (url in waiting.standing or url in (waiting.failed or ()))

    def keep(self, key: bytes, url: str, heir: Heir) -> bool:
        """Remember a filtered alias. False: there is no room, and it should be let through instead."""
        waiting = self._classes.get(key)
        if waiting is None or len(waiting.heirs) >= HEIRS_PER_CLASS:
            return True
        if self.was_tried(key, url) or any(url == kept for kept, _ in waiting.heirs):
            return True
        if self._room <= 0:
            return bool(waiting.heirs) or len(waiting.standing) > 1 or waiting.resting
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
        return bool(waiting.failed)

    def rest(self, key: bytes) -> None:
        """The class seems to have its page, and keeps its heirs in case that turns out wrong: then it fails."""
        if waiting := self._classes.get(key):
            waiting.resting = True
            waiting.standing = ()

    def fail(self, key: bytes, url: str) -> Heir | None:
        """*url* brought no page. The heir to queue now, if nothing else stands for the class."""
        waiting = self._classes.get(key)
        if waiting is None:
            return None
        waiting.resting = False
        waiting.failed = {url, *(waiting.failed or ())}
        waiting.standing = tuple(other for other in waiting.standing if other != url)
        return None if waiting.standing else self._next_heir(key, waiting)

    def orphans(self) -> Iterator[Heir]:
        """One heir of each class that has any, when it is known that nothing that stands can still succeed."""
        for key in tuple(self._with_heirs):
            waiting = self._classes[key]
            if waiting.resting:
                continue
            waiting.failed = {*waiting.standing, *(waiting.failed or ())}
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
                waiting.failed,
                waiting.resting,
            )
            for key, waiting in self._classes.items()
        }

    def load(self, dumped: dict[bytes, Any], thaw: Callable[[Any], Heir]) -> None:
        for key, (standing, heirs, failed, resting) in dumped.items():
            self._classes[key] = _Class(
                standing, tuple((url, thaw(heir)) for url, heir in heirs), failed, resting
            )
            self._room -= len(heirs)
            if heirs:
                self._with_heirs[key] = None

    def _next_heir(self, key: bytes, waiting: _Class[Heir]) -> Heir | None:
        if not waiting.heirs:
            return None
        (_, heir), *rest = waiting.heirs
        waiting.heirs = tuple(rest)
        self._room += 1
        if not waiting.heirs:
            del self._with_heirs[key]
        return heir
