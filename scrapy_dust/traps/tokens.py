"""Recognises links with a token that is made for one link and may expire: such a link cannot wait until all others are fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from scrapy_dust.url.value_classes import has_id

#: Names of parameters, and values of each, that are remembered.
_NAMES, _VALUES = 500, 10_000
#: A link that was seen with more values is linked from many pages, or these values are what tells pages apart.
_OF_A_LINK = 8


@dataclass(slots=True)
class _Values:
    """The values of one parameter."""

    links: dict[int, int] = field(default_factory=dict)  #: by value, the rest of the URL
    counts: Counter[int] = field(default_factory=Counter)  #: of values, by the rest of the URL

    def may_be_tokens(self, value: int, rest: int) -> bool:
        """Take note of *value* in a URL with this *rest*. Returns whether the values may still be tokens."""
        if value not in self.links:
            self.counts[rest] += 1
        return (
            self.links.setdefault(value, rest) == rest
            and self.counts[rest] <= _OF_A_LINK
            and len(self.links) <= _VALUES
        )


class Tokens:
    """The parameters of the sites of one crawl whose random values were each seen in one link alone.

    A session id stands in many links, and the ids of pages tell many links apart that are alike otherwise. Tokens do neither.
    """

    def __init__(self) -> None:
        #: By site and name; None once the values are no tokens.
        self._values: dict[tuple[str, str], _Values | None] = {}

    def may_be_in(self, site: str, url: str) -> bool:
        """Take note of a link to *url*. Returns whether *url* has a value that may be a token."""
        found = False
        for name, value, rest in _random_values(url):
            known = self._values.setdefault((site, name), _Values() if len(self._values) < _NAMES else None)
            if known is None:
                continue
            if known.may_be_tokens(value, rest):
                found = True
            else:
                self._values[site, name] = None
        return found


def _random_values(url: str) -> Iterator[tuple[str, int, int]]:
    """The names of the parameters of *url* with random values, with a hash of each value and one of the rest of *url*."""
    page, _, query = url.partition("?")
    parts = query.split("&") if query else ()
    for number, part in enumerate(parts):
        name, _, value = part.partition("=")
        if value and has_id(value):
            rest = f"{page} {parts[:number]} {parts[number + 1 :]}"
            yield name, _hash(f"value {value}"), _hash(rest)


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
