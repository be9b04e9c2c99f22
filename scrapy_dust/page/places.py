"""The numbers for places and values of units. This module makes them without numpy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum

from xxhash import xxh3_64_intdigest

#: Bits of a place that are a hash of its path.
PATH_BITS = 21
_PATH = (1 << PATH_BITS) - 1
#: Upper bits of a value that are a hash of the shape of its text: of texts that differ in their numbers they are equal.
SHAPE_BITS = 10
#: Bits of a value that tell what stands there.
EXACT_BITS = 24 - SHAPE_BITS
#: The bits of a value, in 32.
VALUE = (1 << SHAPE_BITS) - 1 << 32 - SHAPE_BITS | (1 << EXACT_BITS) - 1

#: Digits of five bits in the units of a log; the first 32 end a number.
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
#: Digits of a number at most.
MAX_DIGITS = 10
#: Units as a log has them.
PACKED = re.compile(rb"(?:[g-z0-9+/]{0,%d}+[A-Za-f])*+" % (MAX_DIGITS - 1))

#: As the value of a unit of `Kind.OWN`: it repeats the page's own URL, and says nothing else.
REPEATED = 1

#: The names of places for people: `text div#main span.price`.
Names = Mapping[int, str]


class Kind(IntEnum):
    """The kind of a unit: text, link, media and so on."""

    TEXT = 0  #: what a person reads
    LINK = 1  #: where the page leads
    MEDIA = 2  #: a picture, a film, a frame
    FIELD = 3  #: a value of a form, of `meta`, of an attribute
    DATA = 4  #: a value of JSON, XML, a script, microdata; the digest of a body that has nothing else
    GROUP = 5  #: texts and media that stand together, such as the cells of a row
    OWN_LINK = 6  #: a link whose URL has the page's own path or parameters in it
    OWN = 7  #: a field, or a value of a script, that repeats the page's own URL or a part of it; what links say beside it


def place_of(kind: Kind, path: str) -> int:
    """The number of the place of *kind* at *path*."""
    return kind << PATH_BITS | xxh3_64_intdigest(path.encode("utf-8", "surrogatepass")) & _PATH


#: The place of the URL that a page names as its own.
CANONICAL = place_of(Kind.LINK, "link[canonical]")


def kind_of(place: int) -> Kind:
    """The kind of a unit at *place*."""
    return Kind(place >> PATH_BITS)


def as_kind(place: int, kind: Kind) -> int:
    """The place of *kind* at the same path as *place*."""
    return kind << PATH_BITS | place & _PATH


def name_of(kind: Kind, path: str) -> str:
    """The name of a place of a page in sentences: "text `div.price`" for the *kind* text at the *path* `div.price`."""
    return f"{kind.name.lower()} {path}"


def url_value(url: str) -> int:
    """The value of a link to *url*, an absolute URL as Scrapy requests it. The fragment does not count."""
    url = url.partition("#")[0]
    host_begins = url.find("://") + 3
    if url.find("/", host_begins) < 0:
        head, mark, query = url.partition("?")
        url = f"{head}/{mark}{query}"
    return xxh3_64_intdigest(url.encode("utf-8", "surrogatepass")) & VALUE
