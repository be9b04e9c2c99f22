"""What is done to the segments of a path."""

from __future__ import annotations

import re
from dataclasses import dataclass

from scrapy_dust.dust.edits.anatomy import Anatomy, class_of
from scrapy_dust.dust.edits.operation import ANY


@dataclass(frozen=True, slots=True)
class DropSlash:
    """The slash at the end of the path."""

    rank = 8
    family = "slash"
    needle = "/"

    def apply(self, url: Anatomy) -> Anatomy:
        path = url.path
        end = len(path)
        while end > 2 and not path[end - 1]:
            end -= 1
        return url if end == len(path) else url._replace(path=path[:end])

    def __str__(self) -> str:
        return "last slash → (left out)"


@dataclass(frozen=True, slots=True)
class DropLast:
    """A last segment of this name: what a directory shows anyway."""

    name: str
    rank = 7
    family = "index"

    @property
    def needle(self) -> str:
        return self.name

    def apply(self, url: Anatomy) -> Anatomy:
        path = url.path
        return url if len(path) < 2 or path[-1] != self.name else url._replace(path=(*path[:-1], ""))

    def __str__(self) -> str:
        return f"/{self.name} at the path's end → /"


#: What web servers are told to show for a directory, by any of their languages.
_INDEX = re.compile(r"index(?:\.[a-z]{2,5})?|default\.[a-z]{2,5}", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class DropIndex:
    """A last segment by which servers call what a directory shows: `DropLast` of all such names at once."""

    rank = 7
    family = "index"
    needle = ""

    def apply(self, url: Anatomy) -> Anatomy:
        path = url.path
        if len(path) < 2 or not _INDEX.fullmatch(path[-1]):
            return url
        return url._replace(path=(*path[:-1], ""))

    def __str__(self) -> str:
        return "/index.* at the path's end → /"


@dataclass(frozen=True, slots=True)
class MapSuffix:
    """How the last segment that is not empty ends."""

    suffix: str
    other: str
    rank = 6
    family = "suffix"

    @property
    def needle(self) -> str:
        return self.suffix

    def apply(self, url: Anatomy) -> Anatomy:
        path = url.path
        at = len(path) - 1
        if at > 0 and not path[at]:
            at -= 1
        last = path[at]
        stem = last.removesuffix(self.suffix)
        if len(stem) == len(last) or not stem:
            return url
        return url._replace(path=(*path[:at], stem + self.other, *path[at + 1 :]))

    def __str__(self) -> str:
        return f"{self.suffix} at the path's end → {self.other or '(left out)'}"


@dataclass(frozen=True, slots=True)
class MapSegments:
    """Some segments in a row, wherever they are; nothing in their place where *other* is empty."""

    segments: tuple[str, ...]
    other: tuple[str, ...]
    rank = 5

    @property
    def family(self) -> str:
        if not self.other:
            return "optional segments"
        # What names a version or a thing by a number of its own is an alias of it; names may be copies.
        named = any(class_of(one) in ("hex", "uuid") for one in (*self.segments, *self.other))
        return "identifier" if named else "segments"

    @property
    def needle(self) -> str:
        return max(self.segments, key=len)

    def apply(self, url: Anatomy) -> Anatomy:
        path, wanted, width = url.path, self.segments, len(self.segments)
        for at in range(1, len(path) - width + 1):
            if path[at] == wanted[0] and path[at : at + width] == wanted:
                rest = path[at + width :]
                # What is taken from the end leaves the slash before it.
                return url._replace(path=(*path[:at], *self.other, *(rest or (() if self.other else ("",)))))
        return url

    def __str__(self) -> str:
        before, after = "/".join(self.segments), "/".join(self.other)
        return f"/{before}/ → /{after}/" if after else f"/{before}/ → /"


@dataclass(frozen=True, slots=True)
class AnySegment:
    """The segment at a place does not matter: one thing stands for all. Places from the end are negative."""

    place: int
    rank = 5
    needle = ""
    family = "any segment"

    def apply(self, url: Anatomy) -> Anatomy:
        at = place_in(url.path, self.place)
        if at is None or url.path[at] == ANY or not url.path[at]:
            return url
        return url._replace(path=(*url.path[:at], ANY, *url.path[at + 1 :]))

    def __str__(self) -> str:
        return f"{place_name(self.place)} → {ANY}"


@dataclass(frozen=True, slots=True)
class DropFrom:
    """All segments from a place on."""

    place: int
    rank = 5
    needle = ""
    family = "drop segment"

    def apply(self, url: Anatomy) -> Anatomy:
        path = url.path
        if len(path) <= self.place or (len(path) == self.place + 1 and not path[-1]):
            return url
        return url._replace(path=(*path[: self.place], ""))

    def __str__(self) -> str:
        return f"{place_name(self.place)} and what follows → (left out)"


def place_in(path: tuple[str, ...], place: int) -> int | None:
    at = place if place >= 0 else len(path) + place
    return at if 0 < at < len(path) else None


def place_name(place: int) -> str:
    return f"segment {place}" if place > 0 else f"segment {-place} from the end"


@dataclass(frozen=True, slots=True)
class CollapseRepeats:
    """What comes twice in a row in a path comes once: ``a/a``, ``a/b/a/b``, ``//``."""

    rank = 4
    family = "repeats"
    needle = ""

    def apply(self, url: Anatomy) -> Anatomy:
        path = list(url.path)
        at = 1
        while at < len(path):
            width = next((w for w in range(1, (len(path) - at) // 2 + 1) if _repeats(path, at, w)), 0)
            if width:
                del path[at : at + width]
            else:
                at += 1
        return url if len(path) == len(url.path) else url._replace(path=tuple(path))

    def __str__(self) -> str:
        return "segments that come twice in a row → once"


def _repeats(path: list[str], at: int, width: int) -> bool:
    return path[at] == path[at + width] and path[at : at + width] == path[at + width : at + 2 * width]
