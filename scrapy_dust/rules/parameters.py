"""Operations on one parameter, in the query or in the path (``;name=value``)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from scrapy_dust.rules.operation import ANY, Need, Operation, operation
from scrapy_dust.rules.words import words_of
from scrapy_dust.url.parts import Parts, parameters_of

#: A longer one is put in at one place only: in a book and a page that were made for each other, it would be thousands.
LONGEST_VALUE = 1000

_NAME = re.compile(r"[^&;=#]+")


class _OfParameter(Operation):
    """An operation on the one parameter that it names."""

    __slots__ = ()

    name: str
    of_whole_words = True

    @property
    def needle(self) -> str:
        return self.name

    @property
    def parameter(self) -> str:
        return self.name

    @property
    def named(self) -> str:
        return self.name


class _OfItsValue(_OfParameter):
    """An operation after which the parameter's value, or a part of the value, does not matter."""

    __slots__ = ()

    @property
    def slot(self) -> str | None:
        return f"?{self.name}"

    def in_slot(self, url: Parts) -> str:
        return "&".join("" if value is None else value for value in url.values(self.name))


@operation
@dataclass(frozen=True, slots=True)
class DropParameter(_OfItsValue):
    """A parameter is left out, with any value or, where one is named, with that one only."""

    name: str
    value: str | None = None  #: None: whatever it is
    do = "drop parameter"
    rank = 10
    may_be_empty = frozenset(("value",))
    script = """(one, url) => {
      const goes = (name, value) => name === one.name && (one.value === null || (value || "") === one.value);
      return keeping(withPathParameters(url, (name, value) => (goes(name, value) ? null : value)),
        ([name, value]) => !goes(name, value));
    }"""

    @property
    def family(self) -> str:
        if self.value is None:
            return "parameter"
        return "default value" if self.value else "empty parameter"

    def apply(self, url: Parts) -> Parts:
        name, value = self.name, self.value
        if url.query:
            kept = [
                one for one in url.query if one[0] != name or (value is not None and (one[1] or "") != value)
            ]
            if len(kept) != len(url.query):
                url = url.with_query(kept)
        if not url.has_parameters_in_path:
            return url
        return url.with_path_parameters(
            lambda key, found: None if key == name and value in (None, found) else found
        )

    @property
    def needs(self) -> tuple[Need, ...]:
        return _needs(self.name, self.value or "")

    @property
    def slot(self) -> str | None:
        return f"?{self.name}" if self.value is None else None

    def of_value(self, value: str) -> Operation:
        return DropParameter(self.name, value)

    @property
    def given(self) -> str | None:
        return self.value

    @property
    def named(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value}"

    def check(self) -> None:
        _check_name(self.name)

    def __str__(self) -> str:
        return f"{self.name}={ANY if self.value is None else self.value} → (left out)"


def _needs(*texts: str) -> tuple[Need, ...]:
    return tuple((text, words_of(text)) for text in texts if text)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"'name' must be a parameter's name, got {name!r}")


@operation
@dataclass(frozen=True, slots=True)
class SetParameter(_OfItsValue):
    """A parameter gets one value, whatever it had (thesis §5.3)."""

    name: str
    value: str
    do = "set parameter"
    rank = 9
    family = "any value"
    may_be_empty = frozenset(("value",))
    script = """(one, url) => (one.value.length > LONGEST_VALUE && valuesOf(url, one.name).length > 1 ? url
      : withValues(url, one.name, () => one.value))"""

    @property
    def needle(self) -> str:
        return f"{self.name}="

    def apply(self, url: Parts) -> Parts:
        if len(self.value) > LONGEST_VALUE and len(url.values(self.name)) > 1:
            return url
        return _with_values(url, self.name, lambda value: self.value)

    @property
    def leads_to_urls(self) -> bool:
        return ANY not in self.value

    def check(self) -> None:
        _check_name(self.name)
        found = [one.pair for one in parameters_of(f"{self.name}={self.value}")]
        if found != [(self.name, self.value)] or "#" in self.value:
            raise ValueError(f"'value' must be one parameter's value, got {self.value!r}")

    def __str__(self) -> str:
        return f"{self.name}={ANY} → {self.name}={self.value}"


@operation
@dataclass(frozen=True, slots=True)
class AnyValue(_OfItsValue):
    """A parameter must be there, but its value does not matter."""

    name: str
    do = "any value"
    rank = 9
    family = "any value"
    leads_to_urls = False
    script = "(one, url) => withValues(url, one.name, () => ANY)"

    def apply(self, url: Parts) -> Parts:
        return _with_values(url, self.name, lambda value: ANY)

    def __str__(self) -> str:
        return f"{self.name}={ANY} → {self.name}=(any)"


@operation
@dataclass(frozen=True, slots=True)
class MapValue(_OfParameter):
    """A parameter gets another value, where it has this one."""

    name: str
    value: str
    other: str
    do = "map value"
    rank = 9
    family = "value"
    may_be_empty = frozenset(("value", "other"))
    script = """(one, url) => (one.other.length > LONGEST_VALUE && valuesOf(url, one.name).length > 1 ? url
      : withValues(url, one.name, (value) => (value === one.value ? one.other : value)))"""

    def apply(self, url: Parts) -> Parts:
        if len(self.other) > LONGEST_VALUE and len(url.values(self.name)) > 1:
            return url
        return _with_values(url, self.name, lambda value: self.other if value == self.value else value)

    @property
    def needs(self) -> tuple[Need, ...]:
        return _needs(self.name, self.value)

    @property
    def leads_to_urls(self) -> bool:
        return ANY not in self.other

    @property
    def given(self) -> str:
        return self.value

    @property
    def named(self) -> str:
        return f"{self.name}={self.value}"

    def check(self) -> None:
        self.check_other("value", "other")

    def __str__(self) -> str:
        return f"{self.name}={self.value} → {self.name}={self.other}"


@operation
@dataclass(frozen=True, slots=True)
class CutValue(_OfItsValue):
    """A parameter's value ends before a delimiter."""

    name: str
    delimiter: str
    do = "cut value"
    rank = 9
    family = "cut value"
    leads_to_urls = True
    script = "(one, url) => withValues(url, one.name, (value) => value.split(one.delimiter)[0])"

    def apply(self, url: Parts) -> Parts:
        return _with_values(url, self.name, lambda value: value.partition(self.delimiter)[0])

    def __str__(self) -> str:
        return f"{self.name}=…{self.delimiter}{ANY} → {self.name}=…"


def _with_values(url: Parts, name: str, change: Callable[[str], str]) -> Parts:
    """*url* with each value of the parameter *name* changed by *change*."""
    if url.query:
        query = [
            one._replace(value=change(one[1])) if one[0] == name and one[1] is not None else one
            for one in url.query
        ]
        if any(new[1] != old[1] for new, old in zip(query, url.query, strict=True)):
            url = url.with_query(query)
    if not url.has_parameters_in_path:
        return url
    return url.with_path_parameters(lambda key, value: change(value) if key == name else value)
