"""The parts of a URL that rules work on: scheme, host, path segments, parameters, fragment.

`parts_of` takes any string, as a key function must, and `Parts.url` gives it back unchanged: the standard library's
parser raises on some strings and loses empty parts of others.

A parameter stands in the query or, as ``;name=value``, in a segment of the path. In a query ``&`` separates parameters,
and so does a ``;`` that another ``name=`` follows (``?C=N;O=D``); any other ``;`` belongs to the value before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

#: RFC 3986, appendix B.
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SEPARATOR = re.compile(r"&|;(?=[^&;=]+=)")
_PARAMETER_OF_SEGMENT = re.compile(r";([^;=&]+)=([^;&]*)")


class Parameter(NamedTuple):
    """One ``name=value`` as it is written in a URL."""

    name: str
    value: str | None  #: None where there is no ``=``
    #: What stands before it, or would if it were not the first: ``&`` or ``;``.
    separator: str = "&"

    @property
    def pair(self) -> tuple[str, str | None]:
        """The name and the value, without the separator."""
        return self.name, self.value

    def with_value(self, value: str) -> Parameter:
        """The parameter with another *value*."""
        return _new(Parameter, (self[0], value, self[2]))


class Parts(NamedTuple):
    """A URL and its parts. None stands for a part that is missing, an empty text for a part that is empty."""

    scheme: str | None
    host: str | None  #: with user and port
    path: tuple[str, ...]  #: between slashes, with their ``;`` parameters; ``/a/`` is ``("", "a", "")``
    query: tuple[Parameter, ...] | None
    fragment: str | None

    @property
    def url(self) -> str:
        """The URL that these parts make."""
        scheme, host, path, query, fragment = self
        text = "/".join(path) if host is None else f"//{host}{'/'.join(path)}"
        if scheme is not None:
            text = f"{scheme}:{text}"
        if query is not None:
            text = f"{text}?{_query_text(query)}"
        return text if fragment is None else f"{text}#{fragment}"

    @property
    def has_authority(self) -> bool:
        """Whether the URL has a scheme and a host."""
        return bool(self.scheme and self.host)

    @property
    def has_parameters_in_path(self) -> bool:
        """Whether the path may have ``;`` parameters."""
        return ";" in "/".join(self.path)

    @property
    def separator(self) -> str:
        """The separator of parameters: ``;`` if it stands before any, in path or query; else ``&``."""
        if any(one[2] == ";" for one in self[3] or ()):
            return ";"
        return ";" if any(self.path_parameters) else "&"

    @property
    def parameters(self) -> Iterator[tuple[str, str | None]]:
        """Names and values of all parameters, from left to right."""
        yield from self.path_parameters
        for name, value, _ in self.query or ():
            yield name, value

    @property
    def path_parameters(self) -> Iterator[tuple[str, str | None]]:
        """Names and values of the ``;`` parameters in the path."""
        for segment in self.path:
            if ";" in segment:
                for match in _PARAMETER_OF_SEGMENT.finditer(segment):
                    yield match[1], match[2]

    def values(self, name: str) -> list[str | None]:
        """All values of the parameter *name*."""
        return [value for key, value in self.parameters if key == name]

    def first_value(self, name: str) -> tuple[bool, str | None]:
        """Whether there is a parameter *name*, and the value of the first one."""
        for key, value in self.path_parameters if self.has_parameters_in_path else ():
            if key == name:
                return True, value
        for one in self[3] or ():
            if one[0] == name:
                return True, one[1]
        return False, None

    def with_query(self, parameters: Iterable[Parameter]) -> Parts:
        """The URL with *parameters* as its query; without parameters it has no query."""
        kept = [one if one[2] == "&" else _with_readable_separator(one) for one in parameters]
        if kept:
            # The separator of the first one is not written: as it would be read again.
            following = kept[1][2] if len(kept) > 1 else "&"
            if kept[0][2] != following:
                kept[0] = kept[0]._replace(separator=following)
        return _new(Parts, (self[0], self[1], self[2], tuple(kept) or None, self[4]))

    def with_path_parameters(self, change: Callable[[str, str], str | None]) -> Parts:
        """The URL with the values of its path parameters changed by *change*; None leaves a parameter out."""

        def changed(match: re.Match[str]) -> str:
            """The text of one parameter after *change*; empty if it is left out."""
            value = change(match[1], match[2])
            return "" if value is None else f";{match[1]}={value}"

        path = tuple(_PARAMETER_OF_SEGMENT.sub(changed, one) if ";" in one else one for one in self.path)
        return self if path == self.path else self._replace(path=path)


#: Rules ask one after the other about the same URL.
@lru_cache(maxsize=256)
def parts_of(url: str) -> Parts:
    """The parts of *url*, any string."""
    match = _PARTS.fullmatch(url)
    assert match is not None  # the expression matches every string
    scheme, host, path, query, fragment = match.groups()
    parameters = None if query is None else parameters_of(query)
    return _new(Parts, (scheme, host, tuple(path.split("/")), parameters, fragment))


def parameters_of(query: str) -> tuple[Parameter, ...]:
    """The parameters of *query*, with the separator before each."""
    if ";" not in query:
        return tuple([_parse_parameter(text) for text in query.split("&")])
    found, begin, separator = list[Parameter](), 0, ""
    for match in _SEPARATOR.finditer(query):
        found.append(_parse_parameter(query[begin : match.start()], separator or match[0]))
        begin, separator = match.end(), match[0]
    return (*found, _parse_parameter(query[begin:], separator or "&"))


def _parse_parameter(text: str, separator: str = "&") -> Parameter:
    name, equals, value = text.partition("=")
    # Half of the time that its own constructor takes: one is made for each parameter of each URL.
    return _new(Parameter, (name, value if equals else None, separator))


_new = tuple.__new__


def _with_readable_separator(one: Parameter) -> Parameter:
    """The parameter *one*, with ``&`` in the place of a ``;`` that `parameters_of` would not read as a separator before
    it.
    """
    again = one.name and ";" not in one.name and one.value is not None
    return one if again else one._replace(separator="&")


def _query_text(query: tuple[Parameter, ...]) -> str:
    text = "".join([mark + (name if value is None else f"{name}={value}") for name, value, mark in query])
    return text[1:]


def without_path_parameters(segment: str) -> str:
    """*segment* without its ``;`` parameters."""
    return _PARAMETER_OF_SEGMENT.sub("", segment) if ";" in segment else segment
