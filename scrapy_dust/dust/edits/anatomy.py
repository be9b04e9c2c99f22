"""A URL as what edits work on: scheme, host, path segments, parameters, fragment.

`anatomy_of` takes any string, as a key function must, and `Anatomy.url` gives it back unchanged: the standard
library's parser raises on some strings and loses empty parts of others.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: RFC 3986, appendix B.
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)

Parameter = tuple[str, str | None]  #: name and value, as written; None where there is no ``=``


class Anatomy(NamedTuple):
    """None: the part is not there, which is not the same as empty."""

    scheme: str | None
    host: str | None  #: with user and port
    path: tuple[str, ...]  #: between slashes; ``/a/`` is ``("", "a", "")``
    query: tuple[Parameter, ...] | None
    fragment: str | None
    between: str = "&"  #: what separates the parameters

    @property
    def url(self) -> str:
        scheme, host, path, query, fragment, between = self
        return "".join(
            (
                "" if scheme is None else scheme + ":",
                "" if host is None else "//" + host,
                "/".join(path),
                "" if query is None else "?" + between.join(n if v is None else f"{n}={v}" for n, v in query),
                "" if fragment is None else "#" + fragment,
            )
        )

    @property
    def has_authority(self) -> bool:
        return bool(self.scheme and self.host)

    def with_query(self, parameters: tuple[Parameter, ...]) -> Anatomy:
        """A query of no parameters is no query."""
        return self._replace(query=parameters or None)

    def values(self, name: str) -> list[str | None]:
        return [value for key, value in self.query or () if key == name]


def anatomy_of(url: str) -> Anatomy:
    match = _PARTS.fullmatch(url)
    assert match is not None  # the expression matches every string
    scheme, host, path, query, fragment = match.groups()
    # Apache's directory listings and some CGI programs separate parameters by semicolons.
    between = ";" if query is not None and ";" in query and "&" not in query else "&"
    return Anatomy(
        scheme,
        host,
        tuple(path.split("/")),
        None if query is None else tuple(map(_parameter, query.split(between))),
        fragment,
        between,
    )


def _parameter(pair: str) -> Parameter:
    name, equals, value = pair.partition("=")
    return name, value if equals else None


_CLASSES = (
    ("empty", re.compile(r"")),
    ("digits", re.compile(r"[0-9]+")),
    ("uuid", re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")),
    ("date", re.compile(r"(?:19|20)[0-9]{2}-?[01][0-9]-?[0-3][0-9](?:T.*)?")),
    ("hex", re.compile(r"(?=.*[0-9])[0-9a-fA-F]{6,}")),
    ("word", re.compile(r"[A-Za-z]+")),
    ("name", re.compile(r"[A-Za-z0-9_]+")),
    ("slug", re.compile(r"[\w.~-]+")),
    ("path", re.compile(r"[!/].*", re.DOTALL)),
)


def class_of(value: str | None) -> str:
    """What kind of text *value* is; the first class that fits, of the narrow ones first."""
    if value is None:
        return "none"
    return next((name for name, pattern in _CLASSES if pattern.fullmatch(value)), "text")
