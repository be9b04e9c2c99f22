"""What is done to the parameters of a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from scrapy_dust.dust.edits.anatomy import Anatomy, Parameter
from scrapy_dust.dust.edits.operation import ANY

#: A longer one is put in at one place only: in a book and a page that were made for each other, it would be thousands.
LONGEST_VALUE = 1000


@dataclass(frozen=True, slots=True)
class DropParameter:
    """A parameter of this name, with one value or with any."""

    name: str
    value: str | None = None  #: None: whatever it is
    rank = 10

    @property
    def family(self) -> str:
        if self.value is None:
            return "parameter"
        return "default value" if self.value else "empty parameter"

    @property
    def needle(self) -> str:
        return self.name

    def apply(self, url: Anatomy) -> Anatomy:
        if not url.query:
            return url
        name, value = self.name, self.value
        kept = tuple(one for one in url.query if one[0] != name or (value is not None and one[1] != value))
        return url if len(kept) == len(url.query) else url.with_query(kept)

    def __str__(self) -> str:
        return f"{self.name}={ANY if self.value is None else self.value} → (left out)"


@dataclass(frozen=True, slots=True)
class DropQuery:
    """All of the query."""

    rank = 10
    family = "query"
    needle = "?"

    def apply(self, url: Anatomy) -> Anatomy:
        return url if url.query is None else url._replace(query=None)

    def __str__(self) -> str:
        return "query → (left out)"


@dataclass(frozen=True, slots=True)
class KeepParameters:
    """Of the query, only parameters of these names."""

    names: frozenset[str]
    rank = 10
    family = "keep only"
    needle = "?"

    def apply(self, url: Anatomy) -> Anatomy:
        if not url.query:
            return url
        kept = tuple(one for one in url.query if one[0] in self.names)
        return url if len(kept) == len(url.query) else url.with_query(kept)

    def __str__(self) -> str:
        return f"parameters other than {', '.join(sorted(self.names))} → (left out)"


@dataclass(frozen=True, slots=True)
class AnyValue:
    """A parameter must be there, but its value does not matter."""

    name: str
    rank = 9
    family = "any value"

    @property
    def needle(self) -> str:
        return self.name

    def apply(self, url: Anatomy) -> Anatomy:
        return _with_values(url, self.name, lambda value: ANY)

    def __str__(self) -> str:
        return f"{self.name}={ANY} → {self.name}=(any)"


@dataclass(frozen=True, slots=True)
class MapValue:
    name: str
    value: str
    other: str
    rank = 9
    family = "value"

    @property
    def needle(self) -> str:
        return self.name

    def apply(self, url: Anatomy) -> Anatomy:
        if len(self.other) > LONGEST_VALUE and len(url.values(self.name)) > 1:
            return url
        return _with_values(url, self.name, lambda value: self.other if value == self.value else value)

    def __str__(self) -> str:
        return f"{self.name}={self.value} → {self.name}={self.other}"


@dataclass(frozen=True, slots=True)
class CutValue:
    """What follows a delimiter in a parameter's value does not matter."""

    name: str
    delimiter: str
    rank = 9
    family = "cut value"

    @property
    def needle(self) -> str:
        return self.name

    def apply(self, url: Anatomy) -> Anatomy:
        return _with_values(url, self.name, lambda value: value.partition(self.delimiter)[0])

    def __str__(self) -> str:
        return f"{self.name}=…{self.delimiter}{ANY} → {self.name}=…"


def _with_values(url: Anatomy, name: str, change: Callable[[str], str]) -> Anatomy:
    if not url.query:
        return url
    query: tuple[Parameter, ...] = tuple(
        (key, change(value)) if key == name and value is not None else (key, value)
        for key, value in url.query
    )
    return url if query == url.query else url._replace(query=query)


@dataclass(frozen=True, slots=True)
class DropRepeated:
    """A parameter that comes twice with one value comes once."""

    rank = 11
    family = "repeated parameter"
    needle = "?"

    def apply(self, url: Anatomy) -> Anatomy:
        if not url.query or len(url.query) < 2:
            return url
        kept = tuple(dict.fromkeys(url.query))
        return url if len(kept) == len(url.query) else url._replace(query=kept)

    def __str__(self) -> str:
        return "parameters that repeat → once"


@dataclass(frozen=True, slots=True)
class DropEmpty:
    """Parameters without a value."""

    rank = 10
    family = "empty parameters"
    needle = "?"

    def apply(self, url: Anatomy) -> Anatomy:
        if url.query is None:
            return url
        kept = tuple(one for one in url.query if one[1])
        return url if len(kept) == len(url.query) else url.with_query(kept)

    def __str__(self) -> str:
        return "parameters without a value → (left out)"


@dataclass(frozen=True, slots=True)
class SortParameters:
    """The order of parameters does not matter; with *values*, not even that of one name's values."""

    values: bool = False
    rank = 12
    family = "order"
    needle = "?"

    def apply(self, url: Anatomy) -> Anatomy:
        if not url.query or len(url.query) < 2:
            return url
        ordered = tuple(sorted(url.query, key=lambda one: (one[0], one[1] or "" if self.values else "")))
        return url if ordered == url.query else url._replace(query=ordered)

    def __str__(self) -> str:
        return "parameters → sorted" + (" with their values" if self.values else "")
