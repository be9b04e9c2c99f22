"""Names for the callbacks of a crawl: two callbacks may take different things from the same page."""

from __future__ import annotations

import time
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable


class Handlers:
    """Names the callbacks of one crawl. Callbacks that may do different things have different names."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._next = count()
        self._crawl = time.time_ns()

    def name(self, callback: Callable[..., Any] | None) -> str:
        """The name of *callback*: of a spider's method its own, in later crawls too; of other functions one for this
        crawl only.
        """
        if callback is None:
            return "parse"
        function = getattr(callback, "__func__", callback)
        named = getattr(function, "__name__", "")
        if isinstance(function, FunctionType) and function.__closure__ is None and named != "<lambda>":
            return named
        number = self._numbers.get(function)
        if number is None:
            number = self._numbers[function] = next(self._next)
        return f"{named} {self._crawl} {number}"
