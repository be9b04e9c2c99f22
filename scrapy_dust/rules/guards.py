"""Guards: conditions about a URL's host, path, parameters and the classes of their values, under which a
rule applies.

An attribute is a name for a place in a URL: ``host``, ``path``, ``depth``, ``ext``, ``/2`` for a segment,
``shape`` for a path of which some segments do not matter, ``?id`` for a parameter's value, ``?id:`` for the class of that value, ``#:`` for that of the fragment,
``separator``: ``;`` where that stands before any parameter, else ``&``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scrapy_dust.url.parts import Parts
from scrapy_dust.url.value_classes import value_class

_DEEPEST = 4  #: segments that conditions may be about


def attribute(url: Parts, name: str) -> str | None:
    """The value of the attribute *name* of *url*, such as ``host`` or ``?id``; None where the URL has no such place."""
    if name == "host":
        return url.host
    if name == "path":
        return "/".join(url.path)
    if name == "depth":
        return str(len(url.path) - 1)
    if name == "ext":
        return _extension(url)
    if name == "separator":
        return url.separator
    if name[0] == "/":
        at = int(name[1:])
        return url.path[at] if at < len(url.path) else None
    if name == "#:":
        return None if url.fragment is None else value_class(url.fragment)
    if name[-1] == ":":
        found, value = url.first_value(name[1:-1])
        return value_class(value) if found else None
    found, value = url.first_value(name[1:])
    return (value or "") if found else None


def fits_shape(path: Sequence[str], shape: Sequence[str]) -> bool:
    """Whether *path* has *shape*, in which ``*`` stands for any segment."""
    return len(path) == len(shape) and all(map(_segment_fits, path, shape))


def _segment_fits(segment: str, wanted: str) -> bool:
    """Whether *segment* is *wanted*, or *wanted* is ``*``."""
    return wanted in (segment, "*")


def attributes(url: Parts) -> dict[str, str]:
    """The attributes of *url* that conditions can name, with their values."""
    names = ["host", "path", "depth", "ext"]
    names += [f"/{at}" for at in range(1, min(_DEEPEST + 1, len(url.path)))]
    found = {name: value for name in names if (value := attribute(url, name)) is not None}
    for name, value in url.parameters:
        # Of a name that stands there again the first value counts.
        if name and (of_class := f"?{name}:") not in found:
            if name[-1] != ":":
                found[f"?{name}"] = value or ""
            found[of_class] = value_class(value)
    if url.fragment is not None:
        found["#:"] = value_class(url.fragment)
    return found


def _extension(url: Parts) -> str:
    """The file extension of the last segment of *url*, such as ``html``; empty if there is none."""
    stem, dot, extension = url.path[-1].rpartition(".")
    return extension if dot and stem and len(extension) <= 5 else ""


class Condition(NamedTuple):
    """A condition on an attribute of a URL: that it is there, that it has a value, or the contrary."""

    name: str
    value: str | None = None  #: None: any
    holds: bool = True  #: False: the contrary is asked for

    def accepts(self, url: Parts) -> bool:
        """Whether the condition is true of *url*."""
        if self.name == "shape":
            return fits_shape(url.path, (self.value or "").split("/")) is self.holds
        found = attribute(url, self.name)
        return (found is not None and (self.value is None or found == self.value)) is self.holds

    def __str__(self) -> str:
        if self.value is None:
            return f"{_place_in_words(self.name)} is {'there' if self.holds else 'not there'}"
        return f"{_place_in_words(self.name)} {'is' if self.holds else 'is not'} {self.value or 'empty'}"


def _place_in_words(name: str) -> str:
    if name[0] == "/":
        return f"segment {name[1:]}"
    if name[0] == "?":
        return f"the class of {name[1:-1]}" if name[-1] == ":" else name[1:]
    return {"#:": "the class of the fragment", "ext": "the extension", "shape": "the path"}.get(
        name, f"the {name}"
    )


Guard = tuple[Condition, ...]


def holds(guard: Guard, url: Parts) -> bool:
    """Whether all conditions of *guard* are true of *url*."""
    for condition in guard:  # noqa: SIM110  Asked of each URL: a generator takes as long as what it asks.
        if not condition.accepts(url):
            return False
    return True


def without_implied(guard: Iterable[Condition]) -> Guard:
    """The conditions of *guard* that no other condition implies, in a fixed order."""
    conditions = set(guard)
    # Of shapes, a path can have several.
    given = {
        one.name: one.value
        for one in conditions
        if one.holds and one.value is not None and one.name != "shape"
    }
    implied = {
        one
        for one in conditions
        if given.get(one.name) is not None
        and (
            (one.holds and one.value is None) or (not one.holds and one.value not in (None, given[one.name]))
        )
    }
    return tuple(sorted(conditions - implied, key=str))


def guard_in_words(guard: Iterable[Condition]) -> str:
    """*guard* as words for people, such as "where segment 1 is shop"."""
    return " and ".join(sorted(map(str, guard)))


def required_texts(condition: Condition) -> tuple[str, ...]:
    """Texts, each between separators, that every URL has for which *condition* is true."""
    name, value = condition.name, condition.value
    if not condition.holds or name in ("depth", "shape", "separator", "#:"):
        return ()
    if name[0] != "?":
        texts: tuple[str | None, ...] = (value,)
    elif name[-1] == ":":
        texts = (name[1:-1],)
    else:
        texts = (f"{name[1:]}={value}" if value else name[1:],)
    return tuple(filter(None, texts))
