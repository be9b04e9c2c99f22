"""Makes the units of any body: HTML, XML, JSON, text, PDF or bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from scrapy_dust.page.elements import TOKEN, Memory, Walk, bared, layout_of
from scrapy_dust.page.loose import html_tokens, xml_tokens
from scrapy_dust.page.paths import Path
from scrapy_dust.page.places import Kind, Names
from scrapy_dust.page.scripts import emissions_of_json
from scrapy_dust.page.settling import Settling
from scrapy_dust.page.units import Units, distinct, exact_units, kept_of, units_of
from scrapy_dust.page.values import value_of, values_of
from scrapy_dust.page.wording import Said

_XML = re.compile(r"\s*+<(?:\?xml|!DOCTYPE|!--|[A-Za-z_][\w.:-]*+(?:\s|/?>))")
_JSON = re.compile(r"\s*+[{\[]")
_BETWEEN_BLOCKS = re.compile(r"\n[ \t\r]*+\n")
#: The size of the cache between pages, some 30 MB.
_MAX_MEMORY = 60_000
_memory = Memory()


def _no_units() -> npt.NDArray[np.uint64]:
    return np.empty(0, np.uint64)


@dataclass(frozen=True, slots=True)
class Described:
    """The units of a body, the names of their places, and the URLs of its links."""

    units: Units
    names: Names
    links: Mapping[int, str] = field(default_factory=dict)
    exact: npt.NDArray[np.uint64] = field(
        default_factory=_no_units, compare=False, repr=False
    )  #: all units, with all bits of their values

    def with_bytes(self, digest: str) -> Described:
        """The same description with the *digest* of the body as a further unit, for a body that was not read to its
        end.
        """
        of_bytes = units_of_bytes(digest)
        pairs = zip(self.units.places.tolist(), self.units.values.tolist(), strict=True)
        both = units_of([*(place << 32 | value for place, value in pairs), _byte_unit(digest)])
        total = (self.units.total + of_bytes.units.total) & 0xFFFFFFFFFFFFFFFF
        names = {**self.names, **of_bytes.names}
        return Described(replace(both, total=total, whole=self.units.whole), names, self.links, self.exact)


def units_of_markup(markup: str, url: str, encoding: str) -> Described:
    """The units of HTML as the parser writes it."""
    memory = _remembered()
    settling = Settling(url, encoding, memory.addresses)
    bare, contents = bared(markup)
    Walk(memory, settling).through_markup(bare, iter(contents), memory.root)
    return _made(settling.finish(), memory, settling.ends)


def said_in_markup(markup: str, url: str, encoding: str) -> Said:
    """The words of HTML as the parser writes it, with places and units as `units_of_markup` has them."""
    memory = _remembered()
    settling = Settling(url, encoding, memory.addresses)
    walk = _Texts(memory, settling)
    bare, contents = bared(markup)
    walk.through(TOKEN.finditer(bare), iter(contents), memory.root)
    return _said(walk.texts, settling)


def said_in_text(text: str, url: str, encoding: str) -> Said | None:
    """The words of XML or JSON, with places and units as `units_of_text` has them; None for other text."""
    memory = _remembered()
    settling = Settling(url, encoding, memory.addresses)
    walk = _Texts(memory, settling)
    if _XML.match(text):
        walk.through_tokens(xml_tokens(text), iter(()), memory.data)
    elif _JSON.match(text):
        settling.add(emissions_of_json(memory.root.below("json"), text))
    else:
        return None
    return _said(walk.texts, settling)


def _said(texts: Sequence[tuple[int, str]], settling: Settling) -> Said:
    """The words of *texts*, and those of the fields and links in *settling*."""
    return Said(texts, [(unit, said) for unit, _, said in settling.fields], list(settling.said_in_links()))


class _Texts(Walk):
    """A walk that keeps the texts that it meets."""

    def __init__(self, memory: Memory, settling: Settling) -> None:
        super().__init__(memory, settling)
        self.texts: list[tuple[int, str]] = []

    def _said(self, path: Path, text: str) -> int | None:
        """Add the units of *text*, and keep the text."""
        self.texts.append(((path.text or path.text_place()) >> 32, text))
        return super()._said(path, text)


def units_of_tangled(markup: str, url: str, encoding: str, ignore: Sequence[str]) -> Described:
    """The units of HTML that is too tangled to parse, without the elements in *ignore* as far as they can be recognised."""
    memory = _remembered()
    settling = Settling(url, encoding, memory.addresses)
    tokens, contents = html_tokens(markup, ignore)
    Walk(memory, settling).through_tokens(tokens, iter(contents), memory.root)
    return _made(settling.finish(), memory, settling.ends)


def units_of_text(text: str, url: str, encoding: str) -> Described:
    """The units of a text that is no HTML: JSON, XML, or plain text block by block."""
    memory = _remembered()
    settling = Settling(url, encoding, memory.addresses)
    if _XML.match(text):
        Walk(memory, settling).through_tokens(xml_tokens(text), iter(()), memory.data)
    elif _JSON.match(text):
        settling.add(emissions_of_json(memory.root.below("json"), text))
    else:
        block = memory.root.below("block")
        place, layout = block.at(Kind.TEXT), block.at(Kind.FIELD, "[layout]")
        for said in _BETWEEN_BLOCKS.split(text):
            settling.units.extend(place | value for value in values_of(said))
            settling.units.append(layout | value_of(layout_of(said)))
    return _made(settling.finish(), memory, settling.ends)


def units_of_bytes(digest: str) -> Described:
    """The one unit of a body that cannot be read: its *digest*."""
    memory = _remembered()
    return _made([_byte_unit(digest)], memory)


def units_of_pages(text: str, title: str) -> Described:
    """The units of a document that has pages and no other structure, such as a PDF."""
    memory = _remembered()
    pieces = [("title", title), *(("page", page) for page in text.split("\f"))]
    places = ((memory.root.below(name).at(Kind.TEXT), said) for name, said in pieces)
    return _made((place | value for place, said in places for value in values_of(said)), memory)


def _byte_unit(digest: str) -> int:
    return _memory.root.below("bytes").at(Kind.DATA) | int(digest[:8], 16)


def _made(units: Iterable[int], memory: Memory, links: Mapping[int, str] | None = None) -> Described:
    """The description of a body that has these *units*; *memory* names their places."""
    exact = exact_units(units)
    made = kept_of(exact)
    memory.size += len(made) >> 4  # of what is remembered of URLs, about
    names = memory.names
    return Described(
        made, {place: names[place] for place in distinct(made.places).tolist()}, links or {}, exact
    )


def _remembered() -> Memory:
    """The cache between pages, or a new one if it has grown too large."""
    global _memory  # noqa: PLW0603
    if _memory.size > _MAX_MEMORY:
        _memory = Memory()
    return _memory
