"""Operations on a query as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from scrapy_dust.rules.operation import Operation, operation
from scrapy_dust.url.parts import Parts


@operation
@dataclass(frozen=True, slots=True)
class DropQuery(Operation):
    """The query is left out."""

    do = "drop query"
    rank = 10
    family = "query"
    is_of_query = True
    needle = "?"
    slot = ""
    script = "(one, url) => (url.query === null ? url : { ...url, query: null })"

    def apply(self, url: Parts) -> Parts:
        return url if url.query is None else url._replace(query=None)

    def in_query(self, parameters: list[str]) -> list[str]:
        return []

    def value_in_slot(self, url: Parts) -> str:
        """The whole query, which does not matter."""
        return _query_text(url)

    def __str__(self) -> str:
        return "query → (left out)"


def _query_text(url: Parts) -> str:
    """The query of *url* as a text that differs wherever queries differ."""
    return "" if url.query is None else repr([one.pair for one in url.query])


@operation
@dataclass(frozen=True, slots=True)
class KeepParameters(Operation):
    """Parameters of the query with other names are left out."""

    names: frozenset[str]
    do = "keep parameters"
    rank = 10
    family = "keep only"
    is_of_query = True
    needle = "?"
    slot = ""
    may_be_empty = frozenset(("names",))
    script = "(one, url) => keeping(url, ([name]) => one.names.includes(name))"

    def apply(self, url: Parts) -> Parts:
        if not url.query:
            return url
        kept = [one for one in url.query if one.name in self.names]
        return url if len(kept) == len(url.query) else url.with_query(kept)

    def in_query(self, parameters: list[str]) -> list[str]:
        return [one for one in parameters if one.partition("=")[0] in self.names]

    def value_in_slot(self, url: Parts) -> str:
        """The whole query, of which some parameters do not matter."""
        return _query_text(url)

    def __str__(self) -> str:
        return f"parameters other than {', '.join(sorted(self.names))} → (left out)"


@operation
@dataclass(frozen=True, slots=True)
class DropRepeated(Operation):
    """A parameter that comes twice with one value comes once."""

    do = "drop repeated"
    rank = 11
    family = "repeated parameter"
    is_of_query = True
    needle = "?"
    script = """(one, url) => {
      if (!url.query || url.query.length < 2) return url;
      return keeping(url, (pair, at) => url.query.findIndex((each) => samePair(pair, each)) === at);
    }"""

    def apply(self, url: Parts) -> Parts:
        if not url.query or len(url.query) < 2:
            return url
        kept = {one[:2]: one for one in reversed(url.query)}
        if len(kept) == len(url.query):
            return url
        return url.with_query(dict.fromkeys(kept[one[:2]] for one in url.query))

    def in_query(self, parameters: list[str]) -> list[str]:
        return list(dict.fromkeys(parameters))

    def __str__(self) -> str:
        return "parameters that repeat → once"


@operation
@dataclass(frozen=True, slots=True)
class DropEmpty(Operation):
    """Parameters without a value are left out."""

    do = "drop empty"
    rank = 10
    family = "empty parameters"
    is_of_query = True
    needle = "?"
    script = "(one, url) => keeping(url, ([, value]) => Boolean(value))"

    def apply(self, url: Parts) -> Parts:
        if url.query is None:
            return url
        kept = [one for one in url.query if one.value]
        return url if len(kept) == len(url.query) else url.with_query(kept)

    def in_query(self, parameters: list[str]) -> list[str]:
        return [one for one in parameters if one.partition("=")[2]]

    def __str__(self) -> str:
        return "parameters without a value → (left out)"


@operation
@dataclass(frozen=True, slots=True)
class SortParameters(Operation):
    """Parameters are sorted; with ``values``, also those of one name."""

    values: bool = False
    do = "sort parameters"
    rank = 12
    family = "order"
    is_of_query = True
    needle = "?"
    is_universal = True
    script = """(one, url) => {
      if (!url.query || url.query.length < 2) return url;
      const by = (a, b) => order(a[0], b[0]) || (one.values ? order(a[1] || "", b[1] || "") : 0);
      const query = [...url.query].sort(by);
      return query.every((pair, at) => pair === url.query[at]) ? url : withQuery(url, query);
    }"""

    def _sort_key(self, one: tuple[str, str | None, str]) -> tuple[str, str]:
        """The text pair by which parameter *one* is sorted: its name and, if values count, its value."""
        return one[0], one[1] or "" if self.values else ""

    def apply(self, url: Parts) -> Parts:
        if not url.query or len(url.query) < 2:
            return url
        if all(self._sort_key(one) <= self._sort_key(next_one) for one, next_one in pairwise(url.query)):
            return url
        return url.with_query(sorted(url.query, key=self._sort_key))

    def in_query(self, parameters: list[str]) -> list[str]:
        return sorted(parameters, key=self._key_as_written)

    def _key_as_written(self, one: str) -> tuple[str, str]:
        name, _, value = one.partition("=")
        return name, value if self.values else ""

    def __str__(self) -> str:
        return "parameters → sorted" + (" with their values" if self.values else "")
