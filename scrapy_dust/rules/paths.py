"""Operations on the segments of a path."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scrapy_dust.rules.operation import ANY, Need, Operation, operation
from scrapy_dust.rules.url_words import words_of
from scrapy_dust.url.parts import Parts
from scrapy_dust.url.value_classes import check_length, is_id, shortened


@operation
@dataclass(frozen=True, slots=True)
class DropSlash(Operation):
    """The slash at the end of the path is left out."""

    do = "drop slash"
    rank = 8
    family = "slash"
    needle = "/"
    script = """(one, url) => {
      let end = url.path.length;
      while (end > 2 && !url.path[end - 1]) end -= 1;
      return end === url.path.length ? url : { ...url, path: url.path.slice(0, end) };
    }"""

    def apply(self, url: Parts) -> Parts:
        path = url.path
        end = len(path)
        while end > 2 and not path[end - 1]:
            end -= 1
        return url if end == len(path) else url._replace(path=path[:end])

    def __str__(self) -> str:
        return "last slash → (left out)"


@operation
@dataclass(frozen=True, slots=True)
class DropLast(Operation):
    """A last segment of this name, such as an index, is left out."""

    name: str
    do = "drop last"
    rank = 7
    family = "index"
    of_whole_words = True
    script = """(one, url) => (url.path.length < 2 || url.path[url.path.length - 1] !== one.name
      ? url : { ...url, path: [...url.path.slice(0, -1), ""] })"""

    @property
    def needle(self) -> str:
        """The name of the segment."""
        return self.name

    def apply(self, url: Parts) -> Parts:
        path = url.path
        return url if len(path) < 2 or path[-1] != self.name else url._replace(path=(*path[:-1], ""))

    @property
    def detail(self) -> str:
        """The segment's name, which tells this operation from others of its family."""
        return self.name

    def __str__(self) -> str:
        return f"/{self.name} at the path's end → /"


#: Files that web servers show for a directory, whatever language they run.
_INDEX = re.compile(r"index(?:\.[a-z]{2,5})?|default\.[a-z]{2,5}", re.IGNORECASE | re.ASCII)


@operation
@dataclass(frozen=True, slots=True)
class DropIndex(Operation):
    """A last segment ``index``, ``index.*`` or ``default.*`` is left out."""

    do = "drop index"
    rank = 7
    family = "index"
    script = r"""(one, url) => (url.path.length < 2
      || !/^(?:index(?:\.[a-z]{2,5})?|default\.[a-z]{2,5})$/i.test(url.path[url.path.length - 1])
      ? url : { ...url, path: [...url.path.slice(0, -1), ""] })"""

    def apply(self, url: Parts) -> Parts:
        path = url.path
        if len(path) < 2 or not _INDEX.fullmatch(path[-1]):
            return url
        return url._replace(path=(*path[:-1], ""))

    def __str__(self) -> str:
        return "/index.* at the path's end → /"


#: The first word of a suffix may go on to the left in a URL.
_FIRST_WORD = re.compile("^[0-9A-Za-z]+")


@operation
@dataclass(frozen=True, slots=True)
class MapSuffix(Operation):
    """The ending of the last segment that is not empty is replaced by another one."""

    suffix: str
    other: str
    do = "map suffix"
    rank = 6
    family = "suffix"
    may_be_empty = frozenset(("other",))
    script = """(one, url) => {
      let at = url.path.length - 1;
      if (at > 0 && !url.path[at]) at -= 1;
      const last = url.path[at];
      if (!one.suffix || !last.endsWith(one.suffix) || last.length === one.suffix.length) return url;
      const stem = last.slice(0, last.length - one.suffix.length);
      return { ...url, path: [...url.path.slice(0, at), stem + one.other, ...url.path.slice(at + 1)] };
    }"""

    @property
    def needle(self) -> str:
        """The ending that is replaced."""
        return self.suffix

    @property
    def needs(self) -> tuple[Need, ...]:
        """The ending that a URL must have, and all of its words but the first, which may be the end of a longer word in the
        URL.
        """
        return ((self.suffix, words_of(_FIRST_WORD.sub("", self.suffix))),)

    def apply(self, url: Parts) -> Parts:
        path = url.path
        at = len(path) - 1
        if at > 0 and not path[at]:
            at -= 1
        last = path[at]
        stem = last.removesuffix(self.suffix)
        if len(stem) == len(last) or not stem:
            return url
        return url._replace(path=(*path[:at], stem + self.other, *path[at + 1 :]))

    @property
    def detail(self) -> str:
        """Both endings, as text."""
        return f"{self.suffix} {self.other}".rstrip()

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched: not if the new ending has ``*``, which stands for any value."""
        return ANY not in self.other

    def check_fields(self) -> None:
        self.check_differ("suffix", "other")

    def __str__(self) -> str:
        return f"{self.suffix} at the path's end → {self.other or '(left out)'}"


@operation
@dataclass(frozen=True, slots=True)
class MapSegments(Operation):
    """Some segments in a row are replaced by others, or left out."""

    segments: tuple[str, ...]
    other: tuple[str, ...]
    do = "map segments"
    rank = 5
    of_whole_words = True
    may_be_empty = frozenset(("other",))
    script = """(one, url) => {
      const width = one.segments.length;
      for (let at = 1; at < url.path.length - width + 1; at += 1) {
        if (!same(url.path.slice(at, at + width), one.segments)) continue;
        const rest = url.path.slice(at + width);
        const tail = rest.length ? rest : one.other.length ? [] : [""];
        return { ...url, path: [...url.path.slice(0, at), ...one.other, ...tail] };
      }
      return url;
    }"""

    @property
    def family(self) -> str:
        """The family: segments left out, segments of which one is an id, or other segments."""
        if not self.other:
            return "optional segments"
        # What names a version or a thing by a number of its own is an alias of it; names may be copies.
        named = any(map(is_id, (*self.segments, *self.other)))
        return "identifier" if named else "segments"

    @property
    def needle(self) -> str:
        """The longest of the segments that are replaced."""
        return max(self.segments, key=len)

    def apply(self, url: Parts) -> Parts:
        path, wanted, width = url.path, self.segments, len(self.segments)
        for at in range(1, len(path) - width + 1):
            if path[at] == wanted[0] and path[at : at + width] == wanted:
                rest = path[at + width :]
                # What is taken from the end leaves the slash before it.
                return url._replace(path=(*path[:at], *self.other, *(rest or (() if self.other else ("",)))))
        return url

    @property
    def leads_to_urls(self) -> bool:
        """Whether the changed URL can be fetched: not if the new segments have ``*``, which stands for any value."""
        return ANY not in "".join(self.other)

    def check_fields(self) -> None:
        self.check_differ("segments", "other")
        if not any(self.segments):
            raise ValueError("'segments' must have one that is not empty")

    def __str__(self) -> str:
        before, after = "/".join(self.segments), "/".join(self.other)
        return f"/{before}/ → /{after}/" if after else f"/{before}/ → /"


@operation
@dataclass(frozen=True, slots=True)
class AnySegment(Operation):
    """The segment at a place does not matter. Places from the end are negative."""

    place: int
    do = "any segment"
    rank = 5
    family = "any segment"
    leads_to_urls = False
    script = """(one, url) => {
      const at = one.place >= 0 ? one.place : url.path.length + one.place;
      if (!(at > 0 && at < url.path.length) || url.path[at] === ANY || !url.path[at]) return url;
      return { ...url, path: [...url.path.slice(0, at), ANY, ...url.path.slice(at + 1)] };
    }"""

    def apply(self, url: Parts) -> Parts:
        at = place_in(url.path, self.place)
        if at is None or url.path[at] == ANY or not url.path[at]:
            return url
        return url._replace(path=(*url.path[:at], ANY, *url.path[at + 1 :]))

    @property
    def slot(self) -> str:
        """The name of the place whose value does not matter: the segment; empty if the segment is counted from the end."""
        return f"/{self.place}" if self.place > 0 else ""

    def value_in_slot(self, url: Parts) -> str:
        """The segment at the place; empty if the path has no such place."""
        at = place_in(url.path, self.place)
        return "" if at is None else url.path[at]

    def check_fields(self) -> None:
        _check_place(self.do, self.place, least=None)

    def __str__(self) -> str:
        return f"{place_name(self.place)} → {ANY}"


@operation
@dataclass(frozen=True, slots=True)
class CutSegment(Operation):
    """The segment at a place, if it is a hexadecimal id, is cut to its first characters."""

    place: int
    length: int
    do = "cut segment"
    rank = 5
    family = "cut id"
    script = """(one, url) => {
      const at = one.place >= 0 ? one.place : url.path.length + one.place;
      if (!(at > 0 && at < url.path.length) || !isId(url.path[at]) || url.path[at].length <= one.length) return url;
      return { ...url, path: [...url.path.slice(0, at), url.path[at].slice(0, one.length), ...url.path.slice(at + 1)] };
    }"""

    def apply(self, url: Parts) -> Parts:
        at = place_in(url.path, self.place)
        if at is None or (short := shortened(url.path[at], self.length)) == url.path[at]:
            return url
        return url._replace(path=(*url.path[:at], short, *url.path[at + 1 :]))

    def check_fields(self) -> None:
        _check_place(self.do, self.place, least=None)
        check_length(self.do, self.length)

    def __str__(self) -> str:
        return f"{place_name(self.place)}, an id → its first {self.length} characters"


@operation
@dataclass(frozen=True, slots=True)
class DropFrom(Operation):
    """All segments from a place on are left out."""

    place: int
    do = "drop from"
    rank = 5
    family = "drop segment"
    script = """(one, url) => {
      const path = url.path, at = one.place;
      if (path.length <= at || (path.length === at + 1 && !path[path.length - 1])) return url;
      return { ...url, path: [...path.slice(0, at), ""] };
    }"""

    def apply(self, url: Parts) -> Parts:
        path = url.path
        if len(path) <= self.place or (len(path) == self.place + 1 and not path[-1]):
            return url
        return url._replace(path=(*path[: self.place], ""))

    @property
    def slot(self) -> str:
        """Empty: no guard can name several segments."""
        return ""

    def value_in_slot(self, url: Parts) -> str:
        """The whole path, since any segment from the place on may be left out."""
        return "/".join(url.path)

    def check_fields(self) -> None:
        _check_place(self.do, self.place, least=1)

    def __str__(self) -> str:
        return f"{place_name(self.place)} and what follows → (left out)"


def _check_place(do: str, place: int, least: int | None) -> None:
    """Raise `ValueError` if *place* is 0 or below *least*; *do* names the operation in the message."""
    if place == 0 or (least is not None and place < least):
        raise ValueError(f"'place' of {do!r} must be a place in a path, got {place}")


def place_in(path: tuple[str, ...], place: int) -> int | None:
    """The index in *path* of the segment number *place*, counted from the end if negative; None if there is no such
    segment.
    """
    at = place if place >= 0 else len(path) + place
    return at if 0 < at < len(path) else None


def place_name(place: int) -> str:
    """The segment number *place* in words, such as "segment 2 from the end"."""
    return f"segment {place}" if place > 0 else f"segment {-place} from the end"


@operation
@dataclass(frozen=True, slots=True)
class CollapseRepeats(Operation):
    """Segments that come twice in a row in a path come once: ``a/a``, ``a/b/a/b``, ``//``."""

    do = "collapse repeats"
    rank = 4
    family = "repeats"
    script = """(one, url) => {
      const path = [...url.path];
      const repeats = (at, width) => same(path.slice(at, at + width), path.slice(at + width, at + 2 * width));
      let at = 1;
      while (at < path.length) {
        let width = 1;
        while (width <= Math.floor((path.length - at) / 2) && !repeats(at, width)) width += 1;
        if (width <= Math.floor((path.length - at) / 2)) path.splice(at, width);
        else at += 1;
      }
      return path.length === url.path.length ? url : { ...url, path };
    }"""

    def apply(self, url: Parts) -> Parts:
        path = list(url.path)
        at = 1
        while at < len(path):
            width = next((w for w in range(1, (len(path) - at) // 2 + 1) if _comes_twice(path, at, w)), 0)
            if width:
                del path[at : at + width]
            else:
                at += 1
        return url if len(path) == len(url.path) else url._replace(path=tuple(path))

    def __str__(self) -> str:
        return "segments that come twice in a row → once"


def _comes_twice(path: list[str], at: int, width: int) -> bool:
    """Whether the *width* segments of *path* from *at* on come again right after."""
    return path[at] == path[at + width] and path[at : at + width] == path[at + width : at + 2 * width]
