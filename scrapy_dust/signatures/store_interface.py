"""The interface of stores of signatures, with the promises that every store keeps.

A page has a URL and shows one content at a time: the signatures with which it was last kept. A signature has one
keeper, the first page that was kept with it and still shows it. So when a page changes, its former content is free
again, and no page is a copy of a content that is no longer there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from scrapy_dust.signatures.copies import Face, Kind

Shingles = npt.NDArray[np.uint64]
Signatures = tuple[bytes, ...]  #: of one page: of its bytes and, where it has words, of its text

#: Of the pages that may be near a page, so many are compared.
MOST_CANDIDATES = 32
DAY = 86_400

#: As stored. What is not in it is never stored.
KINDS = (Kind.CONTENT, Kind.LITTLE, Kind.ERROR)


@dataclass(frozen=True, slots=True)
class KeeperPage:
    """The page that showed a signature first, and how it is to be used."""

    url: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Outline:
    """The features by which a page is compared with its near-duplicates."""

    url: str
    face: Face
    shingles: Shingles = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One page of a store."""

    url: str
    signatures: Signatures
    kind: Kind
    seen: int  #: seconds since 1970


class Store(Protocol):
    """The interface of stores. Any method may raise `OSError`; pages that were kept before stand."""

    def find(self, signature: bytes) -> KeeperPage | None:
        """The keeper of *signature*; None if there is none."""

    def shown(self, url: str) -> Signatures | None:
        """The signatures that *url* showed last; None where the store does not know the URL."""
        ...

    def keep(self, url: str, signatures: Signatures, kind: Kind, *, claim: bool = True) -> KeeperPage | None:
        """Save that *url* shows a content with these *signatures*. Returns another page if that is the keeper of the
        last signature.

        *claim*: this page becomes the keeper of signatures that have none. Without it, only signatures that it had
        are handed on.
        """
        ...

    def release(self, url: str) -> None:
        """Forget *url*, so that the next page with its content becomes the keeper."""
        ...

    def near(self, bands: Sequence[int]) -> list[Outline]:
        """The outlines of at most `MOST_CANDIDATES` pages that share one of *bands*: candidates for near-duplicates."""
        ...

    def keep_near(self, outline: Outline, bands: Sequence[int]) -> None:
        """Save the *outline* of a page, so that `near` finds it by each of *bands*."""

    def flush(self) -> None:
        """Write all pages that were kept, so that a crash loses none of them."""
        ...

    def close(self) -> None:
        """Write what is pending, and close the store."""
