"""Turns markup into units in one pass over its tags.

The units of a tag or a text at one place are cached between pages. The cache saves time and changes no result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any, Protocol

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.addresses import Known
from scrapy_dust.page.emissions import RAW, Emissions, Opened, What, add_style, opened
from scrapy_dust.page.groups import MAX_LEAVES, TEXT, Part, grouped
from scrapy_dust.page.paths import Path
from scrapy_dust.page.places import CANONICAL, Kind, name_of
from scrapy_dust.page.scripts import emissions_of_script
from scrapy_dust.page.settling import Settling
from scrapy_dust.page.subtrees import Subtrees
from scrapy_dust.page.values import value_of, values_of

_ASIDE = re.compile(rf"<(?=[!snixp])(?:!--|({'|'.join(RAW)})(?=[ >]))")
#: A start or an end tag with the text after it, and an end tag that follows with the text after that.
TOKEN = re.compile(r"<([^>]*+)>?\s*+([^<]*+)(?:</[^>]*+>?\s*+([^<]*+))?+")
_PRE = re.compile(r"<pre(?:\s[^>]*+)?>")
_TAG, _WORD = re.compile(r"<[^>]*+>?"), re.compile(r"\S++")
_TYPE = re.compile(r"\btype=\"([^\"]*)\"")
_KEPT_TEXT = 1000
_MEDIA, _FRAME = What.MEDIA, What.FRAME


class Token(Protocol):
    """One or two tags of a document.

    Its groups are a start or an end tag without its brackets, and the text after it; if an end tag follows, then the
    text after that, else None. A raw element, such as a script, has its start tag here alone; its text stands elsewhere.
    """

    def groups(self) -> tuple[Any, ...]: ...
    def start(self) -> int: ...
    def end(self, group: int, /) -> int: ...


class _Alone(tuple[str, str, None]):
    """One tag with the text after it, in the form of a `Token`."""

    __slots__ = ()

    def groups(self) -> tuple[str, str, None]:
        return self

    def start(self) -> int:
        return 0

    def end(self, group: int) -> int:
        return 0


#: The values of a text, and a digest of them.
Said = tuple[tuple[int, ...], int]
#: A group that counts only beside another element at its place: the place, the group, and a number for the element's states,
#: such as ``checked``. Unless the number is 0, the other element must have other states.
Beside = tuple[int, int, int]
#: An element that is open, the path in it, and what is in it so far.
Around = tuple[Opened, Path, list[Part]]


class Memory:
    """The cache of units between pages."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {CANONICAL: name_of(Kind.LINK, "link[canonical]")}
        self.root = Path((), 0, self.names)
        self.data = Path(("xml",), 0, self.names, is_data=True)
        self.texts: dict[str, Said] = {}
        self.lines: set[int] = set()  #: marks of the elements that are parts of a line of text
        self.scripts: dict[tuple[Path, str, str], Emissions] = {}
        self.addresses: Known = {}
        self.size = 0  #: of the whole cache, about


def bared(markup: str) -> tuple[str, list[str]]:
    """Markup as the parser writes it, without comments and without the contents of raw elements (scripts, styles), and
    these contents, in order.
    """
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
    return _with_layouts("".join(pieces)), contents


def _with_layouts(markup: str) -> str:
    """*markup* in which each `pre` has an attribute that says where its white space is; elsewhere white space says nothing."""
    if "<pre" not in markup:
        return markup
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
    """A name for the white space in *text*: texts with equal names have it at the same places."""
    return f"{xxh3_64_intdigest(_WORD.sub('x', text.rstrip()).encode('utf-8', 'surrogatepass')):x}"


class Walk:
    """Walks through the elements of one document and collects their units."""

    def __init__(self, memory: Memory, settling: Settling) -> None:
        self._memory, self._settling = memory, settling
        self._units = settling.units
        self._filled: list[Path] = []  #: of each element that holds something
        self._beside: list[Beside] = []
        self._subtrees: Subtrees | None = None

    def through_markup(self, markup: str, contents: Iterator[str], path: Path) -> None:
        """Walk through *markup*, which the parser has written. Elements that earlier pages had, too, are taken from memory."""
        self._subtrees = Subtrees(markup, self._settling, self._filled, self._beside)
        self.through(TOKEN.finditer(markup), contents, path, markup)
        self._memory.size += self._subtrees.size

    def through_tokens(self, tokens: Iterable[tuple[str, str]], contents: Iterator[str], path: Path) -> None:
        """Walk through tags, each with the text after it."""
        self.through((_Alone((tag, text, None)) for tag, text in tokens), contents, path)

    def through(  # noqa: C901, PLR0912 - here the time goes
        self, tokens: Iterator[Token], contents: Iterator[str], path: Path, markup: str = ""
    ) -> None:
        """Walk through *tokens*, the elements inside *path*. *markup*: the text that they are taken from."""
        filled, subtrees = self._filled, self._subtrees
        made, parts = opened(path, "!"), list[Part]()
        around: list[Around] = []
        while token := next(tokens, None):
            tag, text, after = token.groups()
            if tag[0] == "/":
                if around:
                    made, path, parts = self._closed(made, parts, around, token.start())
            else:
                found = path.opened.get(tag)
                opening = found or self._opened(path, tag)
                if opening.says:
                    self._emit(opening, parts)
                if opening.is_plain:
                    if after is not None:  # an element with nothing but a text in it, if that
                        said = self._said(opening.path, text) if text else None
                        if said is not None:
                            filled.append(opening.path)
                            whole = self._ticked(opening, said, 1) if opening.ticks else said
                            parts.append((opening.mark, whole, 1))
                        elif opening.shows:
                            parts.append((opening.mark, self._shown(opening) ^ opening.ticks, 0))
                        text, after = after, None
                    else:
                        known = None
                        if found is not None and subtrees is not None:
                            known = subtrees.find(opening, token.end(1) + 1, len(around))
                        around.append((made, path, parts))
                        made, path, parts = opening, opening.path, []
                        if known is not None:
                            if known.part is not None:
                                parts.append(known.part)
                            tokens = TOKEN.finditer(markup, token.end(1) + 1 + len(known.inside))
                            continue
                elif opening.plan.is_void:
                    if opening.ticks:
                        parts.append((opening.mark, opening.ticks, 0))
                else:
                    around.append((made, path, parts))
                    made, path, parts = opening, opening.path, self._attribute_parts(opening, tag, contents)
            if text and (said := self._said(path, text)) is not None:
                parts.append((TEXT, said, 1))
            if after is not None:
                if around:
                    made, path, parts = self._closed(made, parts, around, token.end(2))
                if after and (said := self._said(path, after)) is not None:
                    parts.append((TEXT, said, 1))
        self._settle_groups()

    def _closed(self, inside: Opened, held: list[Part], around: list[Around], at: int) -> Around:
        """End the element *inside*, which holds *held*, *at* its end tag. Returns the element around it."""
        outer = around.pop()
        part = held[0] if len(held) == 1 else self._grouped(inside, held) if held else None
        if self._subtrees is not None and self._subtrees.depth == len(around):
            self._subtrees.end(at, part)
        if part is not None:
            self._filled.append(inside.path)
            said = self._ticked(inside, part[1], part[2]) if inside.ticks else part[1]
            outer[2].append((inside.mark, said, part[2]))
        elif inside.shows:
            outer[2].append((inside.mark, self._shown(inside) ^ inside.ticks, 0))
        return outer

    def _attribute_parts(self, opening: Opened, tag: str, contents: Iterator[str]) -> list[Part]:
        """The URLs in the element's attributes, as parts of its content. Also reads the text of a raw element, such
        as a script.
        """
        if opening.plan.is_raw:
            self._raw(opening.path, tag, next(contents, ""))
        return [(TEXT, self._settling.reference(url), 1) for url in opening.refers]

    def _said(self, path: Path, text: str) -> int | None:
        """Add the units of *text*. Returns a digest of them; None if nothing can be seen of it."""
        values, digest = self._memory.texts.get(text) or self._read(text)
        if not values:
            return None
        place = path.text or path.text_place()
        if len(values) == 1:
            self._units.append(place | digest)
        else:
            self._units.extend([place | value for value in values])
        return digest

    def _opened(self, path: Path, tag: str) -> Opened:
        """The result of the start tag *tag* inside *path*, remembered for later pages."""
        self._memory.size += 1
        made = path.opened[tag] = opened(path, tag)
        # Too deep to be told from the element around it, it is no part of a line either.
        if made.plan.is_line and made.path is not path:
            self._memory.lines.add(made.mark)
        return made

    def _read(self, text: str) -> Said:
        """The values of *text* and a digest of them, remembered if the text is short."""
        values = values_of(unescape(text) if "&" in text else text)
        said = values, _joined(values)
        if len(text) <= _KEPT_TEXT:
            self._memory.size += 1
            self._memory.texts[text] = said
        return said

    def _shown(self, opened: Opened) -> int:
        """Add a unit for the class of an empty element, such as a star of a rating. Returns the unit."""
        unit = opened.path.at(Kind.FIELD, "[class]") | value_of(opened.shows)
        self._units.append(unit)
        return unit

    def _ticked(self, opened: Opened, said: int, leaves: int) -> int:
        """The digest of an element that is ticked, disabled or the like, and a group of that state with the element's content."""
        digest = _joined((said, opened.ticks))
        if leaves <= MAX_LEAVES and opened.path.steps:
            self._beside.append((opened.path.at(Kind.GROUP), digest, opened.ticks))
        return digest

    def _emit(self, opening: Opened, parts: list[Part]) -> None:
        """Add the units of the start tag *opening*, and its pictures to the *parts* of its element."""
        settling, subtrees = self._settling, self._subtrees
        self._units.extend(opening.units)
        settling.fields.extend(opening.fields)
        settling.links.extend(opening.links)
        for emission in opening.others:
            what, place, said, beside = emission
            if what is _MEDIA or what is _FRAME:
                unit = place | settling.media_value(said, beside, is_frame=what is _FRAME)
                self._units.append(unit)
                if not opening.refers:
                    parts.append((opening.mark, unit, 1))
                if subtrees is not None and said not in settling.of_site.media:
                    subtrees.unfit += 1
            else:
                settling.add_other(emission)
                if subtrees is not None and what is What.BASE:
                    subtrees.unfit += 1

    def _raw(self, path: Path, tag: str, content: str) -> None:
        """Add the units of an element that the parser does not parse, such as a script."""
        key = path, tag, content
        made = self._memory.scripts.get(key)
        if made is None:
            made = self._memory.scripts[key] = emissions_of_raw(path, tag, content)
            self._memory.size += 1 + len(made) + (len(content) >> 8)
        self._settling.add(made)
        if self._subtrees is not None:
            self._subtrees.unfit += 1

    def _grouped(self, opened: Opened, parts: list[Part]) -> Part:
        """Add the groups that the *parts* of an element form. Returns the element as a part of the one around it."""
        digest, leaves, groups, counts_beside = grouped(
            parts,
            is_row=opened.plan.is_row or opened.path.is_formula,
            is_line=not opened.path.is_data and parts[0][0] in self._memory.lines,
            is_heap=opened.plan.is_heap,
        )
        if groups:
            place = opened.path.at(Kind.GROUP)
            if not counts_beside:
                self._units.extend([_unit_of(place, group) for group in groups])
            elif opened.path.steps:  # there is one body, and its path has no steps
                self._beside.append((place, groups[0], 0))
        return TEXT, digest, leaves

    def _settle_groups(self) -> None:
        """Add the conditional groups: those with another such element on the page."""
        if self._beside:
            times = Counter[int]()
            for path, count in Counter(self._filled).items():
                times[path.at(Kind.GROUP)] += count
            alike = Counter([(place, ticks) for place, _, ticks in self._beside if ticks])
            self._units.extend(
                [
                    _unit_of(place, group)
                    for place, group, ticks in self._beside
                    if times[place] > max(1, alike[place, ticks])
                ]
            )


def _unit_of(place: int, group: int) -> int:
    """The unit of *group*, a digest, at *place*."""
    return place | (group ^ group >> 32) & 0xFFFFFFFF


def _joined(values: tuple[int, ...]) -> int:
    """One digest of *values* in their order."""
    if len(values) == 1:
        return values[0]
    digest = 0
    for value in values:
        digest = (digest * 0x9E3779B97F4A7C15 + value + 1) & 0xFFFFFFFFFFFFFFFF
    return digest


def emissions_of_raw(path: Path, tag: str, content: str) -> Emissions:
    """The units of an element whose content the parser does not parse, such as a script."""
    name, _, attributes = tag.partition(" ")
    if name == "script":
        media_type = _TYPE.search(attributes)
        return emissions_of_script(path, media_type[1] if media_type else "", content)
    made = Emissions()
    if name == "style":
        add_style(made, path, content)
    elif name == "noscript":
        made.add_value(path, Kind.DATA, "", " ".join(content.split()))
    elif name != "iframe":
        made.add_text(path, content)
    return made
