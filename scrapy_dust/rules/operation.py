"""The base class of operations: the changes that a rule makes to a URL, as values that a person can read.

Each operation has its own methods for what it does (`apply`), the texts that it needs (`needs`), its name in a rule
book (`do`), and the script by which a page in a browser does the same (`script`). So a new operation is one class in
one of the modules `spellings`, `paths`, `parameters`, `queries`, `substitution` and `path_rewriting`, and no other code
changes.

An operation either removes a text, or puts one fixed text in the place of many, so that repeating it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, ClassVar, TypeVar, cast

from scrapy_dust.rules.url_words import Word, words_of
from scrapy_dust.url.parts import Parts, parts_of

ANY = "*"  #: what stands for a value that does not matter

#: A text that a URL must have, and words of the text, in a row, that are whole words of the URL.
Need = tuple[str, list[Word]]


class Operation:
    """One change of a URL, without the guard under which it is made. Subclasses are frozen dataclasses."""

    __slots__ = ()

    do: ClassVar[str]  #: what it is called in a rule book
    #: The order in which operations are tried: spellings, hosts, paths, parameters, what sorts; texts last.
    rank: ClassVar[int]
    #: ``(one, url) => …`` in JavaScript: the same as `apply`. *one* is the operation as it stands in a rule book.
    script: ClassVar[str]
    #: Whether a whole word of `needle` is a whole word of each URL that is changed.
    of_whole_words: ClassVar[bool] = False
    #: Fields that may be empty; without any other an operation could not be meant.
    may_be_empty: ClassVar[frozenset[str]] = frozenset()

    @property
    def family(self) -> str:
        """The kind of the operation: a name under which the evidence of many sites is put together."""
        raise NotImplementedError

    @property
    def needle(self) -> str:
        """A text that a URL must contain to be changed; empty where there is none."""
        return ""

    @property
    def needs(self) -> tuple[Need, ...]:
        """The texts that a URL must contain to be changed, as far as they are known."""
        needle = self.needle
        return ((needle, words_of(needle) if self.of_whole_words else []),) if needle else ()

    def apply(self, url: Parts) -> Parts:
        """The changed URL; the very same object where nothing changes."""
        raise NotImplementedError

    @property
    def is_of_query(self) -> bool:
        """Whether the operation changes nothing but parameters, so that `in_query` does all of the operation to a plain URL."""
        return False

    def in_query(self, parameters: list[str]) -> list[str]:
        """The *parameters* of a plain URL's query, as they are written, after the operation."""
        raise NotImplementedError

    def in_text(self, url: str) -> str:
        """The operation applied to the text *url*; the very same *url* where nothing changes."""
        if self.is_of_query and is_plain(url):
            return in_plain_query(url, (self,))
        parts = parts_of(url)
        changed = self.apply(parts)
        return url if changed is parts else changed.url

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched, and is not only good as a key."""
        return True

    @property
    def slot(self) -> str | None:
        """The place of the value that the operation makes irrelevant, as guards name the place (``?sid``, ``/2``);
        ``""`` for a place that no guard can name; None for an operation about given texts.
        """
        return None

    def value_in_slot(self, url: Parts) -> str:
        """The value in *url* that the operation makes irrelevant: that of a parameter, or a segment."""
        return ""

    @property
    def is_of_one_part(self) -> bool:
        """Whether the operation names the one part of a site that it applies to."""
        return False

    def for_value(self, value: str) -> Operation | None:
        """The operation that is made only where the value that it makes irrelevant is *value*; None if only a guard
        can say so.
        """
        return None

    @property
    def parameter(self) -> str | None:
        """The name of the parameter that the operation is about."""
        return None

    @property
    def required_value(self) -> str | None:
        """The value that the parameter must have for the operation to apply; None: any value."""
        return None

    @property
    def detail(self) -> str:
        """The text that tells this operation from others of its family, such as a parameter's name, so that sites can
        be compared; empty where there is none.
        """
        return ""

    @property
    def is_universal(self) -> bool:
        """Whether the operation says the same on every site, because it has no fields."""
        return not fields(cast("Any", self))

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that a URL must have, or gets by the operation, except names of parameters."""
        given = [getattr(self, one.name) for one in fields(cast("Any", self)) if one.name != "name"]
        return tuple(
            text
            for value in given
            for text in (value if isinstance(value, tuple) else (value,))
            if isinstance(text, str)
        )

    def as_written(self) -> Operation:
        """The operation as a rule book has it, without what a learner knows in addition."""
        return self

    def check_fields(self) -> None:
        """Raise `ValueError` if the fields have values with which the operation would make no sense."""

    def check_differ(self, given: str, other: str) -> None:
        """Raise `ValueError` if the fields named *given* and *other* have the same value."""
        if getattr(self, given) == getattr(self, other):
            raise ValueError(
                f"{self.do!r} must change something, both sides are {json_value(getattr(self, given))!r}"
            )


def is_plain(url: str) -> bool:
    """Whether only the query of *url* has parameters, and what stands between two ``&`` is one: there is nothing to take apart."""
    return ";" not in url and "#" not in url


def in_plain_query(url: str, operations: Iterable[Operation]) -> str:
    """*url*, a plain one, after *operations* on its query, one after the other; the very same *url* where nothing changes."""
    before, mark, query = url.partition("?")
    if not mark:
        return url
    parameters = written = query.split("&")
    for one in operations:
        parameters = one.in_query(parameters)
    if parameters == written:
        return url
    return f"{before}?{'&'.join(parameters)}" if parameters else before


def json_value(value: object) -> object:
    """*value*, a field of an operation, as JSON has it: sorted lists for sets, lists for tuples."""
    if isinstance(value, frozenset):
        return sorted(value)
    return list(value) if isinstance(value, tuple) else value


OPERATIONS: dict[str, type[Operation]] = {}

_Kind = TypeVar("_Kind", bound=type[Operation])


def operation(kind: _Kind) -> _Kind:
    """Class decorator that adds the operation *kind* to the language, under its name in rule books."""
    OPERATIONS[kind.do] = kind
    return kind


def fields_json(one: Operation) -> dict[str, object]:
    """The fields of the operation *one*, as JSON."""
    return {spec.name: json_value(getattr(one, spec.name)) for spec in fields(cast("Any", one))}
