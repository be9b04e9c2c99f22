"""Whether two URLs that show one content are two addresses of one page, or show a wall in the place of two pages.

A captcha, a login, or an empty application shell looks like one page with two addresses. What the crawl knows of the
parts in which the URLs differ decides. A part of a URL (a parameter, a path segment, the host) does not matter if
several contents were each seen at two URLs that differ in this part alone, and no two different contents were.
Likewise a site's rel=canonical is trusted if several contents confirm it and none contradicts it. A wall confirms
only itself.

Memory is bounded: what is forgotten has to be seen again.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from scrapy_dust.visits.strata import template_of

#: Contents that must bear out that a part of the URL does not matter.
ENOUGH = 3
#: What is remembered: URLs without one of their parts, in 8 MB, and what is known of parts, some 20 MB.
_SEEN, _KNOWN = 1 << 18, 100_000
#: Parts of a URL; a URL with more parts is ignored.
_MOST_PARTS = 24
_ABSENT = 1


class _Part(NamedTuple):
    """A part of a URL: its kind, its value, and the rest of the URL."""

    what: int  #: see `_part_number`
    value: int  #: a hash of what stands there
    rest: str  #: of the URL, with a gap where it stands in the path
    shorter: str | None  #: the URL without it; None: there is none


#: The parts of a URL, named.
_Parts = list[tuple[str, str]]


class Aliases:
    """Learns during one crawl which parts of URLs do not matter."""

    def __init__(self) -> None:
        # Where a hash leads: the hash, a content, a part (0: none is missing), and what stood there.
        self._seen = tuple(array("Q", bytes(8 * _SEEN)) for _ in range(4))
        # By part, and by part and two values: contents that bear out that it does not matter; None: it matters.
        self._known: OrderedDict[int, tuple[int, ...] | None] = OrderedDict()

    def see(self, url: str, canonical: str | None, content: int) -> None:
        """Remember that *url* shows *content*, a hash of the units that are the page's own."""
        for part in _parts_of(url):
            self._meet(_hash(f"{part.what} {part.rest}"), content, part.what, part.value)
            if part.shorter is not None:
                self._meet(_hash(part.shorter), content, part.what, part.value)
        self._meet(_hash(_joined(_split(url) or [])), content, 0, _ABSENT)
        if canonical is not None:
            at, part_of_all = _canonical(canonical)
            self._meet(at, content, part_of_all, _hash(url))

    def are_aliases(self, url: str, canonical: str | None, other: str, content: int) -> bool:
        """Whether *url* and *other*, which both show *content*, may be two addresses of one page. *canonical*: the
        URL that the page at *url* names as canonical.
        """
        if canonical is not None:
            at, part = _canonical(canonical)
            if self._does_not_matter(part) and self._content_at(at) == content:
                return True
        differing = _differing(url, other)
        return bool(differing) and all(
            (part != _HOST and self._does_not_matter(part)) or self._does_not_matter(_pair(part, *values))
            for part, *values in differing
        )

    def _does_not_matter(self, key: int) -> bool:
        """Whether enough contents show that the part of URLs with the number *key* does not matter, and none shows
        the contrary.
        """
        known = self._known.get(key)
        return known is not None and len(known) >= ENOUGH

    def _meet(self, at: int, content: int, part: int, value: int) -> None:
        """Compare *content* with the content seen before under *at*, a hash of the URL without one *part*, to learn
        whether the part matters. *value*: the part's value in this URL.
        """
        hashes, contents, parts, values = self._seen
        slot = at % _SEEN
        if hashes[slot] == at and (parts[slot] == part or not parts[slot] or not part):
            if values[slot] != value:
                self._note(parts[slot] or part, values[slot], value, content, contents[slot] == content)
            elif parts[slot] == part:
                contents[slot] = content
            if part:
                return
        elif hashes[slot] == at:
            return
        hashes[slot], contents[slot], parts[slot], values[slot] = at, content, part, value

    def _note(self, part: int, value: int, other: int, content: int, same: bool) -> None:
        """Count *content* as evidence about *part*, in general and for its two values *value* and *other*. *same*:
        whether both values show one content.
        """
        for key in (part, _pair(part, value, other)):
            known = self._known.get(key, ())
            if not same:
                known = None
            elif known is not None and content not in known and len(known) < ENOUGH:
                known = (*known, content)
            self._known[key] = known
            self._known.move_to_end(key)
        while len(self._known) > _KNOWN:
            self._known.popitem(last=False)

    def _content_at(self, at: int) -> int | None:
        """The content seen last under *at*, a hash of a URL without one part; None if there is none."""
        hashes, contents, _, _ = self._seen
        slot = at % _SEEN
        return contents[slot] if hashes[slot] == at else None


def _canonical(url: str) -> tuple[int, int]:
    """For a page that names *url* as canonical: a hash under which all such pages are compared, and a number for all
    canonical URLs of the host, in the place of the number of a part of URLs.
    """
    host = url.partition("://")[2].partition("/")[0]
    return _hash(f"canonical {url}"), _hash(f"canonical of {host}")


def _split(url: str) -> _Parts | None:
    """The named parts of *url*; None if there are too many."""
    front, question, query = url.partition("#")[0].partition("?")
    scheme, _, rest = front.partition("://")
    host, *segments = rest.split("/")
    parts = [("scheme", scheme), ("host", host)]
    parts += [(f"/{number}", segment) for number, segment in enumerate(segments)]
    if question:
        parts += [("?" + pair.partition("=")[0], pair) for pair in query.split("&")]
    return parts if len(parts) <= _MOST_PARTS else None


def _joined(parts: _Parts) -> str:
    """One text for all *parts*."""
    front = "\n".join(value for name, value in parts if name[0] != "?")
    return front + "\n?" + "&".join(value for name, value in parts if name[0] == "?")


def _parts_of(url: str) -> Iterator[_Part]:
    """Each part of *url*, with the rest of the URL; nothing if there are too many parts."""
    parts = _split(url) or []
    for number, (name, value) in enumerate(parts):
        before, after = parts[:number], parts[number + 1 :]
        shorter = _joined([*before, *after])
        gap = shorter if name[0] == "?" else _joined([*before, (name, "\0"), *after])
        yield _Part(_part_number(name, parts), _hash(value), gap, shorter if name[0] in "?/" else None)


def _part_number(name: str, parts: _Parts) -> int:
    """A number that names the part *name* of all URLs with one path template."""
    front = [("\0" if one == name else value) for one, value in parts if one[0] != "?"]
    if name == "host":
        return _HOST
    if name == "scheme":
        return _hash(f"scheme {front[1]}")
    return _hash(f"{name} {template_of(front[0] + '://' + '/'.join(front[1:]))}")


def _differing(url: str, other: str) -> list[tuple[int, int, int]]:
    """The parts in which *url* and *other* differ, each as its number and its two values. Empty if more than one
    segment differs, a part comes twice, or a URL has too many parts.
    """
    a, b = _split(url), _split(other)
    if a is None or b is None:
        return []
    extra = _extra_segment(a, b)
    if extra is not None:
        longer, name = extra
        rest = _differing_alike(*(_without(parts, name if parts is longer else "") for parts in (a, b)))
        return (
            [] if rest is None else [(_part_number(name, longer), _hash(dict(longer)[name]), _ABSENT), *rest]
        )
    return _differing_alike(a, b) or []


def _differing_alike(a: _Parts, b: _Parts) -> list[tuple[int, int, int]] | None:
    """The parts in which two URLs with equally many segments differ, as in `_differing`; None if more than one
    segment differs or a part comes twice.
    """
    here, there = dict(a), dict(b)
    if len(here) < len(a) or len(there) < len(b):
        return None
    names = [name for name in {**here, **there} if here.get(name) != there.get(name)]
    rests = ([one for one in parts if one[0] not in names] for parts in (a, b))
    if next(rests) != next(rests) or sum(name[0] == "/" for name in names) > 1:
        return None
    return [
        (_part_number(name, a if name in here else b), _value(here, name), _value(there, name))
        for name in names
    ]


def _extra_segment(a: _Parts, b: _Parts) -> tuple[_Parts, str] | None:
    """The longer one of two URLs of which one has a segment more, and that segment; None if neither has."""
    paths = [[value for name, value in parts if name[0] == "/"] for parts in (a, b)]
    (short, long) = sorted(paths, key=len)
    if len(long) != len(short) + 1:
        return None
    at = next((number for number, value in enumerate(short) if value != long[number]), len(short))
    return (a if long is paths[0] else b, f"/{at}") if long[:at] + long[at + 1 :] == short else None


def _without(parts: _Parts, name: str) -> _Parts:
    """*parts* without the segment *name*; the segments behind it move up."""
    kept = [one for one in parts if one[0] != name]
    segments = iter(range(len(kept)))
    return [(f"/{next(segments)}" if one[0] == "/" else one, value) for one, value in kept]


def _value(parts: dict[str, str], name: str) -> int:
    """A hash of the part *name*; `_ABSENT` if the URL lacks the part."""
    return _hash(parts[name]) if name in parts else _ABSENT


def _pair(part: int, value: int, other: int) -> int:
    """A number for *part* with two of its values, in any order."""
    return _hash(f"{part} {min(value, other)} {max(value, other)}")


def _hash(said: str) -> int:
    return xxh3_64_intdigest(said.encode("utf-8", "surrogatepass"))


#: The host of any URL. What one other host says, the next may not.
_HOST = _hash("host")
