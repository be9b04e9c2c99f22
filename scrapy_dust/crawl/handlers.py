"""What handles a page: two callbacks may take different things from pages that show the same."""

from __future__ import annotations

import time
from itertools import count
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable


class Handlers:
    """Names for the callbacks of one crawl: one for each that may do something else."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._next = count()
        self._crawl = time.time_ns()

    def name(self, callback: Callable[..., Any] | None) -> str:
        """A method's is its own, in later crawls too. What is made while the crawl goes on has one of this crawl alone."""
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
