"""Operations on one parameter, in the query or in the path (``;name=value``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scrapy_dust.rules.operation import ANY, Need, Operation, operation
from scrapy_dust.rules.url_words import words_of
from scrapy_dust.url.parts import Parts, parameters_of
from scrapy_dust.url.value_classes import check_length, shortened

#: A longer one is put in at one place only: in a book and a page that were made for each other, it would be thousands.
LONGEST_VALUE = 1000

_NAME = re.compile(r"[^&;=#]+")
_NUMBER = re.compile("[0-9]+")
#: The words of a text beside a number may go on in it.
_FIRST_WORD, _LAST_WORD = re.compile("^[0-9A-Za-z]+"), re.compile("[0-9A-Za-z]+$")


class _OfParameter(Operation):
    """An operation on the one parameter that it names."""

    __slots__ = ()

    name: str
    of_whole_words = True

    @property
    def needle(self) -> str:
        """The parameter's name, and the value that the parameter must have, as they stand together in a URL."""
        return f"{self.name}={self.required_value or ''}"

    @property
    def parameter(self) -> str:
        """The name of the parameter that the operation changes."""
        return self.name

    @property
    def detail(self) -> str:
        """The parameter's name, which tells this operation from others of its family."""
        return self.name


class _ChangesValue(_OfParameter):
    """An operation that puts another value in the place of the parameter's value, and leaves a parameter without a ``=`` alone."""

    __slots__ = ()

    @property
    def put_in(self) -> str:
        """The text that is put in, if it is one text whatever the value was; else an empty text."""
        return ""

    def changed(self, value: str) -> str:
        """The new value in the place of *value*."""
        raise NotImplementedError

    def apply(self, url: Parts) -> Parts:
        name, changed = self.name, self.changed
        if len(self.put_in) > LONGEST_VALUE and len(url.values(name)) > 1:
            return url
        if url.query:
            query = tuple(
                [
                    one.with_value(changed(one[1])) if one[0] == name and one[1] is not None else one
                    for one in url.query
                ]
            )
            if query != url.query:
                url = url.with_query(query)
        if not url.has_parameters_in_path:
            return url
        return url.with_path_parameters(lambda key, value: changed(value) if key == name else value)

    @property
    def is_of_query(self) -> bool:
        return "=" not in self.name and len(self.put_in) <= LONGEST_VALUE

    def in_query(self, parameters: list[str]) -> list[str]:
        written, changed = f"{self.name}=", self.changed
        start = len(written)
        return [written + changed(one[start:]) if one.startswith(written) else one for one in parameters]


class _OfItsValue(_OfParameter):
    """An operation after which the parameter's value, or a part of the value, does not matter."""

    __slots__ = ()

    @property
    def slot(self) -> str | None:
        """The parameter's place, as guards name it: ``?`` and its name. The value there does not matter."""
        return f"?{self.name}"

    def value_in_slot(self, url: Parts) -> str:
        """The parameter's values in *url*, joined by ``&``."""
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
        """The family: parameters, default values, or parameters without a value."""
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
    def is_of_query(self) -> bool:
        return "=" not in self.name

    def in_query(self, parameters: list[str]) -> list[str]:
        name, written = self.name, f"{self.name}={self.value or ''}"
        if self.value is None:
            return [one for one in parameters if not one.startswith(written) and one != name]
        if self.value:
            return [one for one in parameters if one != written]
        return [one for one in parameters if one not in (name, written)]

    @property
    def needle(self) -> str:
        """The parameter's name and, where one value alone is left out, the value. A parameter may stand without a ``=``."""
        return f"{self.name}={self.value}" if self.value else self.name

    @property
    def slot(self) -> str | None:
        """The name of the place whose value does not matter: the parameter; None if the rule leaves out one value alone."""
        return f"?{self.name}" if self.value is None else None

    def for_value(self, value: str) -> Operation:
        """The operation that leaves the parameter out where it has this *value*."""
        return DropParameter(self.name, value)

    @property
    def required_value(self) -> str | None:
        """The value that the parameter must have to be left out; None: any."""
        return self.value

    @property
    def detail(self) -> str:
        """The parameter's name and, where one value alone is left out, the value."""
        return self.name if self.value is None else f"{self.name}={self.value}"

    def check_fields(self) -> None:
        _check_parameter_name(self.name)

    def __str__(self) -> str:
        return f"{self.name}={ANY if self.value is None else self.value} → (left out)"


def _check_parameter_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"'name' must be a parameter's name, got {name!r}")


@operation
@dataclass(frozen=True, slots=True)
class SetParameter(_ChangesValue, _OfItsValue):
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
    def put_in(self) -> str:
        return self.value

    def changed(self, value: str) -> str:
        return self.value

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched: not if the new value has ``*``, which stands for any value."""
        return ANY not in self.value

    def check_fields(self) -> None:
        _check_parameter_name(self.name)
        found = [one.pair for one in parameters_of(f"{self.name}={self.value}")]
        if found != [(self.name, self.value)] or "#" in self.value:
            raise ValueError(f"'value' must be one parameter's value, got {self.value!r}")

    def __str__(self) -> str:
        return f"{self.name}={ANY} → {self.name}={self.value}"


@operation
@dataclass(frozen=True, slots=True)
class AnyValue(_ChangesValue, _OfItsValue):
    """A parameter must be there, but its value does not matter."""

    name: str
    do = "any value"
    rank = 9
    family = "any value"
    leads_to_urls = False
    script = "(one, url) => withValues(url, one.name, () => ANY)"

    def changed(self, value: str) -> str:
        return ANY

    def __str__(self) -> str:
        return f"{self.name}={ANY} → {self.name}=(any)"


@operation
@dataclass(frozen=True, slots=True)
class MapValue(_ChangesValue):
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

    @property
    def put_in(self) -> str:
        return self.other

    def changed(self, value: str) -> str:
        return self.other if value == self.value else value

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched: not if the new value has ``*``, which stands for any value."""
        return ANY not in self.other

    @property
    def required_value(self) -> str:
        """The value that the parameter must have to be replaced."""
        return self.value

    @property
    def detail(self) -> str:
        """The parameter's name with the value that is replaced."""
        return f"{self.name}={self.value}"

    def check_fields(self) -> None:
        self.check_differ("value", "other")

    def __str__(self) -> str:
        return f"{self.name}={self.value} → {self.name}={self.other}"


@operation
@dataclass(frozen=True, slots=True)
class CutValue(_ChangesValue, _OfItsValue):
    """A parameter's value ends before a delimiter."""

    name: str
    delimiter: str
    do = "cut value"
    rank = 9
    family = "cut value"
    leads_to_urls = True
    script = "(one, url) => withValues(url, one.name, (value) => value.split(one.delimiter)[0])"

    def changed(self, value: str) -> str:
        return value.partition(self.delimiter)[0]

    def __str__(self) -> str:
        return f"{self.name}=…{self.delimiter}{ANY} → {self.name}=…"


@operation
@dataclass(frozen=True, slots=True)
class ShortenValue(_ChangesValue):
    """A parameter's value that is a hexadecimal id is cut to its first characters."""

    name: str
    length: int
    do = "shorten value"
    rank = 9
    family = "cut id"
    script = """(one, url) => withValues(url, one.name, (value) => (isId(value) ? value.slice(0, one.length) : value))"""

    def changed(self, value: str) -> str:
        return shortened(value, self.length)

    def check_fields(self) -> None:
        _check_parameter_name(self.name)
        check_length(self.do, self.length)

    def __str__(self) -> str:
        return f"{self.name}={{id}} → its first {self.length} characters"


@operation
@dataclass(frozen=True, slots=True)
class DropNumbered(Operation):
    """A parameter whose name has any number between two given texts is left out, with any value."""

    before: str
    after: str
    do = "drop numbered"
    rank = 10
    family = "parameter"
    is_of_query = True
    slot = ""
    may_be_empty = frozenset(("before", "after"))
    script = """(one, url) => {
      const goes = (name) => name.length > one.before.length + one.after.length
        && name.startsWith(one.before) && name.endsWith(one.after)
        && /^[0-9]+$/.test(name.slice(one.before.length, name.length - one.after.length));
      return keeping(withPathParameters(url, (name, value) => (goes(name) ? null : value)), ([name]) => !goes(name));
    }"""

    @classmethod
    def like(cls, name: str) -> DropNumbered | None:
        """The operation for all names that differ from *name* in its number alone; None if *name* does not have one number."""
        numbers = list(_NUMBER.finditer(name))
        if len(numbers) != 1 or not _NAME.fullmatch(name) or numbers[0][0] == name:
            return None
        return cls(name[: numbers[0].start()], name[numbers[0].end() :])

    def _has_number(self, name: str) -> bool:
        """Whether *name* is the two given texts with a number between them."""
        before, after = self.before, self.after
        if not (name.startswith(before) and name.endswith(after)):
            return False
        return _NUMBER.fullmatch(name, len(before), max(len(before), len(name) - len(after))) is not None

    @property
    def needle(self) -> str:
        """A text that each URL with such a parameter has: the longer one of the two fixed parts of the parameters' names."""
        return max(self.before, self.after, key=len)

    @property
    def needs(self) -> tuple[Need, ...]:
        """The fixed parts of the parameters' names, each with the words that are whole words of a URL."""
        between = (
            (self.before, words_of(_LAST_WORD.sub("", self.before))),
            (self.after, words_of(_FIRST_WORD.sub("", self.after))),
        )
        return tuple(need for need in between if need[0])

    def apply(self, url: Parts) -> Parts:
        if url.query:
            kept = [one for one in url.query if not self._has_number(one[0])]
            if len(kept) != len(url.query):
                url = url.with_query(kept)
        if not url.has_parameters_in_path:
            return url
        return url.with_path_parameters(lambda key, found: None if self._has_number(key) else found)

    def in_query(self, parameters: list[str]) -> list[str]:
        return [one for one in parameters if not self._has_number(one.partition("=")[0])]

    def value_in_slot(self, url: Parts) -> str:
        """The values of all parameters that are left out, which do not matter."""
        return "&".join(value or "" for name, value in url.parameters if self._has_number(name))

    @property
    def detail(self) -> str:
        """The form of the parameters' names, with ``{number}`` in the place of the number."""
        return f"{self.before}{{number}}{self.after}"

    def check_fields(self) -> None:
        _check_parameter_name(f"{self.before}{self.after}")
        if self.before[-1:].isdigit() or self.after[:1].isdigit():
            raise ValueError("'before' and 'after' must not have a digit beside the number")

    def __str__(self) -> str:
        return f"{self.detail}={ANY} → (left out)"
