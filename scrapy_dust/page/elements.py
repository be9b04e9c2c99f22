"""Turns markup into units in one pass over its tags.

The units of a tag or a text at one place are cached between pages. The cache saves time and changes no result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.addresses import Target
from scrapy_dust.page.emissions import (
    RAW,
    Emission,
    Found,
    Opened,
    What,
    emissions_of,
    found_in_style,
    opened,
)
from scrapy_dust.page.groups import TEXT, Part, grouped
from scrapy_dust.page.paths import Path
from scrapy_dust.page.places import Kind
from scrapy_dust.page.scripts import emissions_of_script
from scrapy_dust.page.settling import Settling
from scrapy_dust.page.values import value_of, values_of

_ASIDE = re.compile(rf"<(?=[!snixp])(?:!--|({'|'.join(RAW)})(?=[ >]))")
_TOKEN = re.compile(r"<([^>]*+)>?\s*+([^<]*+)")
_PRE = re.compile(r"<pre(?:\s[^>]*+)?>")
_TAG, _WORD = re.compile(r"<[^>]*+>?"), re.compile(r"\S++")
_TYPE = re.compile(r"\btype=\"([^\"]*)\"")
_KEPT_TEXT = 1000
_PLAIN, _MEDIA, _FRAME = What.PLAIN, What.MEDIA, What.FRAME

#: A start or an end tag without its brackets, and the text after it; for raw elements, the start tag and what is inside.
Token = tuple[str, str]


class Memory:
    """The cache of units between pages."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.root = Path((), 0, self.names)
        self.data = Path(("xml",), 0, self.names, is_data=True)
        self.texts: dict[str, tuple[int, ...]] = {}
        self.lines: set[int] = set()  #: what elements are that are parts of a line
        self.scripts: dict[tuple[Path, str, str], tuple[Emission, ...]] = {}
        self.addresses: dict[tuple[str, str], dict[str, Target]] = {}
        self.size = 0  #: of all that, about


def tokens_of(markup: str) -> tuple[list[Token], list[str]]:
    """The tokens of markup as the parser writes it, and the contents of its raw elements (scripts, styles), in order."""
    pieces: list[str] = []
    contents: list[str] = []
    at = 0
    while aside := _ASIDE.search(markup, at):
        if aside[1]:
            begin = markup.find(">", aside.end()) + 1 or len(markup)
            end = markup.find(f"</{aside[1]}>", begin)
            pieces.append(markup[at:begin])
            contents.append(markup[begin : end if end >= 0 else len(markup)])
        else:
            pieces.append(markup[at : aside.start()])
            end = markup.find("-->", aside.end())
            end = end + 3 if end >= 0 else end
        if end < 0:
            at = len(markup)
            break
        at = end
    pieces.append(markup[at:])
    return _TOKEN.findall(_with_layouts("".join(pieces))), contents


def _with_layouts(markup: str) -> str:
    """*markup* in which each `pre` has an attribute that says where its white space is; elsewhere white space says nothing."""
    pieces: list[str] = []
    at = 0
    while begins := _PRE.search(markup, at):
        end = markup.find("</pre>", begins.end())
        if end < 0:
            break
        layout = layout_of(_TAG.sub("", markup[begins.end() : end]))
        pieces += (markup[at : begins.end() - 1], f' layout="{layout}"', markup[begins.end() - 1 : end])
        at = end
    return "".join((*pieces, markup[at:]))


def layout_of(text: str) -> str:
    """A name for where the white space of *text* is."""
    return f"{xxh3_64_intdigest(_WORD.sub('x', text.rstrip()).encode('utf-8', 'surrogatepass')):x}"


class Walk:
    """Walks through the elements of one document and collects their units."""

    def __init__(self, memory: Memory, settling: Settling) -> None:
        self._memory, self._settling = memory, settling
        self._units = settling.units
        self._filled: list[Path] = []  #: of each element that holds something
        self._beside: list[
            tuple[int, int]
        ] = []  #: places and groups that count beside another element at the place

    def through(self, tokens: Iterable[Token], contents: Iterator[str], path: Path) -> None:  # noqa: C901, PLR0912 - here the time goes
        """Walk through *tokens*, the elements inside *path*."""
        units, texts, filled = self._units, self._memory.texts, self._filled
        made, parts = opened(path, "!"), list[Part]()
        around: list[tuple[Opened, Path, list[Part]]] = []
        for tag, text in tokens:
            if tag[0] == "/":
                if around:
                    held = parts
                    inside, (made, path, parts) = made, around.pop()
                    if held:
                        filled.append(inside.path)
                        part = held[0] if len(held) == 1 else self._grouped(inside, held)
                        parts.append((inside.mark, part[1], part[2]))
                    elif inside.shows:
                        parts.append((inside.mark, self._shown(inside), 0))
            else:
                opening = path.opened.get(tag) or self._opened(path, tag)
                if opening.emissions:
                    self._emit(opening.emissions, opening.mark, [] if opening.refers else parts)
                if not opening.is_void:
                    around.append((made, path, parts))
                    made, path, parts = opening, opening.path, []
                    if opening.refers:
                        parts.extend([(TEXT, self._settling.reference(url), 1) for url in opening.refers])
                    if opening.is_raw:
                        self._raw(path, tag, next(contents, ""))
            if text:
                values = texts.get(text)
                if values is None:
                    values = self._read(text)
                if values:
                    place = path.text or path.text_place()
                    if len(values) == 1:
                        units.append(place | values[0])
                        parts.append((TEXT, values[0], 1))
                    else:
                        units.extend([place | value for value in values])
                        parts.append((TEXT, _joined(values), 1))
        self._settle_groups()

    def _opened(self, path: Path, tag: str) -> Opened:
        self._memory.size += 1
        made = path.opened[tag] = opened(path, tag)
        if made.is_line:
            self._memory.lines.add(made.mark)
        return made

    def _read(self, text: str) -> tuple[int, ...]:
        values = values_of(unescape(text) if "&" in text else text)
        if len(text) <= _KEPT_TEXT:
            self._memory.size += 1
            self._memory.texts[text] = values
        return values

    def _shown(self, opened: Opened) -> int:
        unit = opened.path.at(Kind.FIELD, "[class]") | value_of(opened.shows)
        self._units.append(unit)
        return unit

    def _emit(self, emissions: Iterable[Emission], mark: int, parts: list[Part]) -> None:
        units, settling = self._units, self._settling
        for emission in emissions:
            what = emission[0]
            if what is _PLAIN:
                units.append(emission[1])
            elif what is _MEDIA or what is _FRAME:
                unit = emission[1] | settling.media_value(emission[2], emission[3], is_frame=what is _FRAME)
                units.append(unit)
                parts.append((mark, unit, 1))
            else:
                settling.settle(emission)

    def _raw(self, path: Path, tag: str, content: str) -> None:
        key = path, tag, content
        made = self._memory.scripts.get(key)
        if made is None:
            made = self._memory.scripts[key] = tuple(emissions_of_raw(path, tag, content))
            self._memory.size += 1 + len(made) + (len(content) >> 8)
        self._emit(made, 0, [])

    def _grouped(self, opened: Opened, parts: list[Part]) -> Part:
        digest, leaves, groups, counts_beside = grouped(
            parts, is_row=opened.is_row, is_line=parts[0][0] in self._memory.lines
        )
        if groups:
            place = opened.path.at(Kind.GROUP)
            if not counts_beside:
                self._units.extend([_unit_of(place, group) for group in groups])
            elif opened.path.steps:  # there is one body, and its path has no steps
                self._beside.append((place, groups[0]))
        return TEXT, digest, leaves

    def _settle_groups(self) -> None:
        if self._beside:
            times = Counter([path.at(Kind.GROUP) for path in self._filled])
            self._units.extend([_unit_of(place, group) for place, group in self._beside if times[place] > 1])


def _unit_of(place: int, group: int) -> int:
    return place | (group ^ group >> 32) & 0xFFFFFFFF


def _joined(values: tuple[int, ...]) -> int:
    digest = 0
    for value in values:
        digest = (digest * 0x9E3779B97F4A7C15 + value + 1) & 0xFFFFFFFFFFFFFFFF
    return digest


def emissions_of_raw(path: Path, tag: str, content: str) -> Iterator[Emission]:
    """The units of an element whose content the parser does not parse, such as a script."""
    name, _, attributes = tag.partition(" ")
    if name == "script":
        media_type = _TYPE.search(attributes)
        yield from emissions_of_script(path, media_type[1] if media_type else "", content)
    elif name == "style":
        yield from emissions_of(path, found_in_style(content))
    elif name == "noscript":
        yield from emissions_of(path, [Found(What.PLAIN, Kind.DATA, "", " ".join(content.split()))])
    elif name != "iframe":
        yield from emissions_of(path, [Found(What.PLAIN, Kind.TEXT, "", content)])
