"""The units of JSON, and of code in scripts that looks like JSON: values by the keys before them.

One pass over JavaScript tokens reads JSON that a script assigns to a name as well, and damaged JSON as far as it
goes. Positions in lists do not count. The values of one object, or of one list of numbers, form a group; so do the
values of each of several documents, line by line. The number of empty lists and objects counts.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum
from itertools import pairwise

from scrapy_dust.page.emissions import Emissions, is_file
from scrapy_dust.page.groups import MAX_CELLS
from scrapy_dust.page.paths import Path, unnumbered
from scrapy_dust.page.places import Kind
from scrapy_dust.page.values import MAX_WORDS_OF_PIECE, pieces_of, unwrapped, value_of

_STRING = r"\"(?:[^\"\\\n]++|\\.)*+\"?|'(?:[^'\\\n]++|\\.)*+'?|`(?:[^`\\]++|\\.)*+`?"
_TOKEN = re.compile(
    rf"{_STRING}|(?:(?<![\w)\]])-)?[0-9][\w.]*+(?:(?<=[eE])[+-][0-9]++)?|[^\W0-9][\w$]*+|//[^\n]*+|/\*.*?(?:\*/|\Z)|[^\s\w]",
    re.DOTALL,
)
_URL = re.compile(r"https?://[^\s/][^\s\"'<>]*+$", re.IGNORECASE)
_FROM_ROOT = re.compile(r"/[A-Za-z0-9_~-][^\s\"'<>]*+$")
_LITERAL_NAMES = frozenset({"true", "false", "null"})
_LITERAL = re.compile(r"-?[0-9]++(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+|true|false|null")
_JSON_TYPES = re.compile(r"json|importmap|speculationrules", re.IGNORECASE)
_MASK = (1 << 64) - 1
_FACTOR = 0x9E3779B97F4A7C15

#: Values of a script that are units. A script with more values that is mostly code is one unit.
_MAX_OF_CODE = 100
_OPENING, _CLOSING, _QUOTES = frozenset("{["), frozenset("}]"), frozenset("\"'`")


class _As(Enum):
    """The ways to count values that may repeat the page's own URL."""

    VALUE = 1  #: as any value
    FIELD = 2  #: not, if they repeat the URL or a part of it
    ADDRESS = 3  #: not, if they repeat the URL as a whole


def emissions_of_script(path: Path, media_type: str, content: str) -> Emissions:
    """The units of a `script` element."""
    if _JSON_TYPES.search(media_type):
        # What is said about a page for other machines is the page's own, as a person's text is.
        values_as = _As.VALUE if "ld+json" in media_type.lower() else _As.FIELD
        return _Data(path, values_as).read(content, is_code=False)
    return _Data(path, _As.FIELD).read(content, is_code=True)


def emissions_of_json(path: Path, content: str) -> Emissions:
    """The units of a body that is JSON, or of lines of JSON."""
    return _Data(path, _As.ADDRESS).read(content, is_code=False)


class _Frame:
    """An object or a list that is open."""

    __slots__ = ("count", "digest_in_order", "empty", "has_numbers", "is_list", "key", "path", "sum")

    def __init__(self, path: Path, key: str, *, is_list: bool) -> None:
        self.path, self.key, self.is_list = path, key, is_list
        self.digest_in_order = self.sum = self.count = 0
        self.has_numbers = False
        self.empty = Counter[tuple[str, bool]]()  #: what is empty in it, by its key, and whether it is a list

    def add(self, key: str, digest: int, count: int) -> None:
        """Add a value to the open object or list."""
        self.digest_in_order = (self.digest_in_order * _FACTOR + digest + 1) & _MASK
        mixed = (digest ^ (value_of(key) if key else 0) << 32) * _FACTOR & _MASK
        self.sum = (self.sum + (mixed ^ mixed >> 29)) & _MASK
        self.count += count


class _Data:
    """Reads the values of one text."""

    def __init__(self, path: Path, values_as: _As) -> None:
        self._as = values_as
        self._frame = _Frame(path, "", is_list=False)
        self._around: list[_Frame] = []
        self._key = ""
        self._is_unwrapped = False  #: the text is inside a value of another one
        self._made = Emissions()
        self._documents: list[int] = []  #: a group for each that is an object

    def read(self, content: str, *, is_code: bool) -> Emissions:
        """The units of *content*. *is_code*: it is a script, and not JSON alone."""
        path = self._frame.path
        tokens = _TOKEN.findall(content)
        rest = self._through(tokens, is_code=is_code)
        while self._around:
            self._close()
        self._count_empty(self._frame)
        if len(self._documents) > 1 and not is_code:
            self._made.units += self._documents
        if is_code and _MAX_OF_CODE < len(self._made) < len(rest):
            self._made, rest = Emissions(), [content]
        if is_code and rest:
            self._made.add_value(path, Kind.DATA, "[code]", " ".join(rest))
        return self._made

    def _through(self, tokens: list[str], *, is_code: bool) -> list[str]:  # noqa: C901 - a case for each sort of token
        """Read *tokens* of JSON or code, and add the values. Returns the tokens that are neither values, keys nor
        brackets.
        """
        rest: list[str] = []
        for token, following in pairwise([*tokens, ""]):
            first = token[0]
            if first in _QUOTES:
                if following == ":" and not self._frame.is_list:
                    self._key = token[1:-1]
                else:
                    self._value(token[1:-1], is_code=is_code, is_text=True)
            elif first.isdecimal() or (first == "-" and len(token) > 1) or token in _LITERAL_NAMES:
                self._frame.has_numbers = True
                self._value(token, is_code=is_code)
            elif first in _OPENING:
                self._open(is_list=first == "[")
            elif first in _CLOSING:
                self._close()
            elif first in ",;":
                self._key = ""
            elif first.isalpha() or first in "_$":
                self._key = token
                if following not in (":", "="):
                    rest.append(token)
            elif first not in ":=/":
                rest.append(token)
        return rest

    def _open(self, *, is_list: bool) -> None:
        """Begin an object or a list, the value of the last key."""
        key, self._key = self._key, ""
        path = self._frame.path.below(unnumbered(key)) if key else self._frame.path
        self._around.append(self._frame)
        self._frame = _Frame(path, key, is_list=is_list)

    def _close(self) -> None:
        """End the innermost object or list, and add it as a value to the one around it."""
        if not self._around:
            return
        closed, self._frame, self._key = self._frame, self._around.pop(), ""
        in_order = closed.is_list and (closed.has_numbers or self._frame.is_list)
        digest = closed.digest_in_order if in_order else closed.sum
        is_numbered = unnumbered(closed.key) != closed.key
        stands_together = in_order or self._frame.is_list or is_numbered
        is_document = not self._around and not closed.key
        if 2 - is_numbered <= closed.count <= MAX_CELLS and (in_order or not closed.is_list):
            whole = digest ^ (value_of(closed.key) * _FACTOR & _MASK if is_numbered else 0)
            value = (whole ^ whole >> 32) & 0xFFFFFFFF
            if stands_together or is_document:
                groups = self._made.units if stands_together else self._documents
                groups.append(closed.path.at(Kind.GROUP) | value)
        if closed.count or closed.empty:
            self._count_empty(closed)
        else:
            self._frame.empty[closed.key, closed.is_list] += 1
        self._frame.add(closed.key, digest, closed.count)

    def _count_empty(self, frame: _Frame) -> None:
        """Add units for the number of empty objects and lists in *frame*."""
        for (key, is_list), count in frame.empty.items():
            path = frame.path.below(unnumbered(key)) if key else frame.path
            unit = path.at(Kind.DATA) | value_of(
                f"{key if unnumbered(key) != key else ''}{'[' if frame.is_list else ''}{'[]' if is_list else '{}'} {count}"
            )
            self._made.units.append(unit)

    def _read_inside(self, path: Path, content: str) -> None:
        """Read JSON that is a value at *path* in another form, such as base64."""
        depth, self._is_unwrapped = len(self._around), True
        rest = self._through(_TOKEN.findall(content), is_code=False)
        while len(self._around) > depth:
            self._close()
        if rest:
            self._made.add_value(path, Kind.DATA, "[code]", " ".join(rest))
        self._is_unwrapped, self._key = False, ""

    def _value(self, said: str, *, is_code: bool, is_text: bool = False) -> None:
        """Add *said*, the value of the last key."""
        key = self._key
        path = self._frame.path.below(unnumbered(key)) if key else self._frame.path
        said = said.replace("\\/", "/")
        if is_text and not self._is_unwrapped and (inside := unwrapped(said)) is not said:
            said = inside
            if inside[:1] in _OPENING:
                self._read_inside(path, inside)
                return
        # A text that looks like a number is no number.
        mark = '"' if is_text and _LITERAL.fullmatch(said) else ""
        self._frame.add(key, value_of(mark + said), 1)
        named = (f"{key}=" if unnumbered(key) != key else "") + mark
        if _URL.match(said) or (not is_code and _FROM_ROOT.match(said)):
            (self._made.add_medium if is_file(said) else self._made.add_link)(path, "", said)
        elif said.count(" ") >= MAX_WORDS_OF_PIECE:
            for piece in pieces_of(said):
                self._made.add_value(path, Kind.DATA, "", piece, named)
        elif self._as is _As.VALUE:
            self._made.add_value(path, Kind.DATA, "", said, named)
        elif self._as is _As.FIELD:
            self._made.add_field(path, Kind.DATA, "", said, named)
        else:
            self._made.add_address(path, "", said, named)
