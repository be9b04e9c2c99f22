"""The values that stores of signatures take and give, and the promises that every store keeps.

A page has a URL and shows one content at a time: the signatures with which it was last kept. A signature has one
keeper, the first page that was kept with it and still shows it. So when a page changes, its former content is free
again, and no page is a copy of a content that is no longer there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scrapy_dust.signatures.copies import Face, Kind, Shingles

Signatures = tuple[bytes, ...]  #: of one page: of its bytes and, where it has words, of its text

#: The most candidates for a page's near-duplicates that are compared.
MOST_CANDIDATES = 32
DAY = 86_400

#: The kinds in the order of the numbers by which they are stored. Other kinds are never stored.
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
