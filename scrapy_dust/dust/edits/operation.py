"""What can be done to a URL on the way to its key, each as a value that a person can read.

An operation gives the same object back where it has nothing to do. Each either takes something away, or puts
one fixed thing in the place of many, so that one alone comes to an end at once. They are in three rooms:
`spellings`, `paths`, `queries`.
"""

from __future__ import annotations

from typing import Protocol

from scrapy_dust.dust.edits.anatomy import Anatomy

ANY = "*"  #: what stands for a value that does not matter


class Operation(Protocol):
    """One edit, without the condition under which it is made."""

    @property
    def rank(self) -> int:
        """The order in which a key function tries them: spellings, hosts, paths, parameters, what sorts; texts last."""

    @property
    def family(self) -> str:
        """What operations of a kind share: prior beliefs are about families."""

    @property
    def needle(self) -> str:
        """A text that every URL contains to which the operation does something; empty where there is none."""

    def apply(self, url: Anatomy) -> Anatomy: ...
