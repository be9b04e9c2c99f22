"""Answers that may be a wall: callbacks yield nothing new from them, or several classes show the same one.

A wall is a captcha, a login or an error with status 200. Other URLs of the classes decide: of each *kind* of such
answers, a few classes are tried with several URLs. If one of these shows something else, the kind is a wall, and no
class has its page. Otherwise the answers are believed to be the pages.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import NamedTuple

from scrapy_dust.crawl.components import Latest

#: How many classes of a kind are tried, and with how many URLs each.
_TRIED, _ALIASES = 3, 5
#: How many classes must show the same answer before one of them is tried. Two are often one page that no rule knows of.
_ALIKE = 3
#: The most entries that are remembered: answers that one class has shown, kinds, and classes of a kind.
_ANSWERS, _KINDS, _CLASSES = 50_000, 1_000, 10_000


class Belief(Enum):
    """The ways to treat an answer that may be a wall."""

    PAGE = "the page of its class"
    UNSURE = "the page of its class, until another class tells otherwise"
    NONE = "no page: the next alias is tried"


class NoItem(NamedTuple):
    """The kind of answers from which a callback has made no item and no request that was new."""

    callback: Hashable


@dataclass(slots=True)
class _Kind:
    """Answers that may be one wall."""

    first: int  #: the number of the first class that is tried
    classes: dict[bytes, int] = field(default_factory=dict)  #: that have shown it, and how often
    is_wall: bool = False


class Walls:
    """Decides for one crawl which answers are walls."""

    def __init__(self) -> None:
        self._answers: Latest[Hashable, bytes] = Latest(_ANSWERS)  #: shown by this class alone
        self._kinds: Latest[Hashable, _Kind] = Latest(_KINDS)
        self._last: Latest[bytes, Hashable] = Latest(_CLASSES)  #: the kind that each class has shown last

    def note_nothing(self, callback: Hashable, class_key: bytes) -> Belief:
        """Whether an answer for the class *class_key* from which *callback* has yielded nothing is a page or a wall."""
        return self._note_class(callback, class_key, first=0)

    def note_something(
        self, callback: Hashable, answer: bytes, class_key: bytes, *, is_item: bool = True
    ) -> tuple[Belief, list[bytes]]:
        """Whether *answer*, a digest of an answer from which *callback* has yielded something, is a page or a wall. If
        it is a wall, also the classes that have shown it, whose next URLs must be tried. *is_item*: an item came of it.
        """
        name = callback, answer
        is_open = isinstance(self._last.get(class_key), NoItem) and not is_item
        doubted = [] if is_open else self._classes_behind_wall(class_key, name)
        if name in self._kinds:
            return self._note_class(name, class_key, first=_ALIKE - 1), doubted
        before = self._answers.setdefault(name, class_key)
        if before == class_key:
            return Belief.PAGE, doubted
        del self._answers[name]
        self._note_class(name, before, first=_ALIKE - 1)
        return self._note_class(name, class_key, first=_ALIKE - 1), doubted

    def classes_without_yield(self, callback: Hashable) -> list[bytes]:
        """The classes from whose answers *callback* has yielded nothing; of a `NoItem`, nothing new."""
        kind = self._kinds.get(callback)
        return [] if kind is None else list(kind.classes)

    def _note_class(self, name: Hashable, class_key: bytes, *, first: int) -> Belief:
        """Count an answer of the kind *name* for *class_key*, and say how to treat it. *first*: the first class to try."""
        kind = self._kinds.get(name)
        if kind is None:
            kind = self._kinds[name] = _Kind(first)
        self._last[class_key] = name
        if kind.is_wall:
            return Belief.NONE
        if class_key not in kind.classes and len(kind.classes) >= _CLASSES:
            return Belief.UNSURE
        times = kind.classes[class_key] = kind.classes.get(class_key, 0) + 1
        is_tried = class_key in islice(kind.classes, kind.first, kind.first + _TRIED)
        return Belief.NONE if times < _ALIASES and is_tried else Belief.UNSURE

    def _classes_behind_wall(self, class_key: bytes, name: Hashable) -> list[bytes]:
        """The classes that had shown what *class_key* showed before it showed *name*. That answer was a wall."""
        last = self._last.get(class_key)
        if last is None or last == name:
            return []
        del self._last[class_key]
        kind = self._kinds.get(last)
        if kind is None or kind.is_wall:
            return []
        kind.is_wall = True
        doubted = [other for other in kind.classes if other != class_key]
        kind.classes.clear()
        return doubted
