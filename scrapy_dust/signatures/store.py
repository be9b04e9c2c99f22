"""What every store of signatures promises.

A page has a URL and shows one content at a time: the signatures it was last kept with. A signature has one
keeper, the page that was kept with it first and still shows it. So what a page showed before it changed is free
again, and nobody is a copy of what is no longer there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scrapy_dust.dust.contents import Face, Kind

Shingles = npt.NDArray[np.uint64]
Signatures = tuple[bytes, ...]  #: of one page: of its bytes and, where it has words, of its text

#: Of the pages that may be near a page, so many are compared.
MOST_CANDIDATES = 32
DAY = 86_400

#: As stored. What is not in it is never stored.
KINDS = (Kind.CONTENT, Kind.LITTLE, Kind.ERROR)


@dataclass(frozen=True, slots=True)
class Known:
    """The keeper of a signature."""

    url: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Outline:
    """What a page is compared by with its near-duplicates."""

    url: str
    face: Face
    shingles: Shingles = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A page as a store has it."""

    url: str
    signatures: Signatures
    kind: Kind
    seen: int  #: seconds since 1970


class Store(Protocol):
    """Any method may raise `OSError`; what was kept before stands."""

    def find(self, signature: bytes) -> Known | None: ...

    def shown(self, url: str) -> Signatures | None:
        """What *url* showed last; None: it is not known."""
        ...

    def keep(self, url: str, signatures: Signatures, kind: Kind, *, claim: bool = True) -> Known | None:
        """*url* shows this now. Gives the keeper of the last signature if that was another page's meanwhile.

        *claim*: nobody is known to keep them. Otherwise who does goes on to.
        """
        ...

    def release(self, url: str) -> None:
        """Forget *url*: whoever shows its content next is its keeper."""
        ...

    def near(self, bands: Sequence[int]) -> list[Outline]:
        """Pages that share a band, `MOST_CANDIDATES` at most."""
        ...

    def keep_near(self, outline: Outline, bands: Sequence[int]) -> None: ...

    def flush(self) -> None:
        """Afterwards what was kept stands whatever happens."""
        ...

    def close(self) -> None: ...


class Upkeep(Protocol):
    """What `scrapy dustpages` needs of a store besides."""

    def rows(self) -> Iterator[Row]:
        """All pages, in no order."""
        ...

    def take(self, rows: Iterable[Row]) -> int:
        """Pages of another store, where they are not known or were seen earlier; gives how many."""
        ...

    def purge(self, urls: Iterable[str]) -> int:
        """Forget these; gives how many were known."""
        ...
