"""The units that a start tag makes of its attributes, as far as the tag and its place decide.

Tags are given as the parser writes them: `a class="x" href="/y"`, each attribute with its value in double quotes, and
no such quote in a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache
from html import unescape
from typing import NamedTuple

from scrapy_dust.page.own import decoded
from scrapy_dust.page.paths import Path, step_of, unnumbered
from scrapy_dust.page.places import Kind
from scrapy_dust.page.values import parts_of, says_something, value_of, values_of


class What(IntEnum):
    """The step that still turns an emission into a unit."""

    PLAIN = 0  #: nothing
    FIELD = 1  #: it may repeat the page's own URL, or a part of it
    ADDRESS = 2  #: it may be the page's own URL, as a whole
    LINK = 3  #: its URL is not absolute yet
    ACTION = 4  #: likewise, and it may be the page's own
    MEDIA = 5  #: likewise
    BASE = 6  #: it is the base of the document's URLs
    FRAME = 7  #: as a medium, and its host counts: a site spreads its pictures over several hosts, and no other documents


class Emission(NamedTuple):
    """A unit that is not finished: it may depend on the document's URL."""

    what: What
    unit: int  #: its place times 2**32, and its value as far as it is known
    said: str  #: what the value was made of, decoded, or a URL as it stands
    own_place: int  #: where it is, if it repeats the page's own URL, times 2**32


class Found(NamedTuple):
    """A value found in a tag, before its place is known."""

    what: What
    kind: Kind
    inside: str  #: which attribute
    said: str
    named: str = ""  #: what stands before it in the value


class Opened:
    """The result of a start tag at one place: the path below it, and the units of its attributes."""

    __slots__ = ("emissions", "is_line", "is_raw", "is_row", "is_void", "mark", "path", "refers", "shows")

    def __init__(self, path: Path, plan: Plan, emissions: tuple[Emission, ...], shows: str) -> None:
        self.path = path  #: of what is in the element
        self.mark = path.mark
        self.emissions = emissions
        self.is_void = plan.is_void  #: nothing is in it, and it has no end tag
        self.is_row = plan.tag in _ORDERED
        self.is_line = not path.is_data and plan.tag in _LINE  #: it is a part of a line of text
        self.refers = _references(emissions) if path.is_data else ()  #: URLs that it says
        self.is_raw = plan.is_raw  #: the parser does not look into it
        self.shows = shows  #: what it shows by itself where nothing is in it


def _references(emissions: Iterable[Emission]) -> tuple[str, ...]:
    return tuple(one.said for one in emissions if one.what in (What.ACTION, What.MEDIA))


Attributes = Mapping[str, str]
Maker = Callable[[str, Attributes], Iterable[Found]]

#: Elements that hold text which looks like tags.
RAW = ("script", "style", "noscript", "iframe", "xmp", "noembed", "noframes", "plaintext")
VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
_LEFT_OUT = frozenset({"html", "head", "body"})
#: Elements whose parts say something by their order.
_ORDERED = frozenset({"tr", "ol"})
_CONTROLS = frozenset({"input", "button", "option", "select", "textarea"})
#: Elements that are parts of a line of text. Links are none: several of them are a menu.
_LINE = frozenset(
    "abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var".split()
)
#: Elements that show another document.
_FRAMES = frozenset({"iframe", "frame", "object", "embed"})
#: Elements of drawings that show what they link.
_DRAWN = frozenset({"use", "image"})

_WITH_PARTS = frozenset({What.LINK, What.MEDIA, What.FRAME, What.BASE})

_MEDIA = frozenset("src poster data background lowsrc dynsrc xlink:href".split())
_SRCSETS = frozenset("srcset imagesrcset data-srcset".split())
_LINKS = frozenset("href longdesc cite".split())
_ACTIONS = frozenset({"action", "formaction"})
#: What says how an element looks, and what is said elsewhere.
_UNSAID = frozenset("class name type rel width height".split())
_DATA = frozenset("content datetime value".split())
_STATES = frozenset("disabled readonly required hidden open reversed controls loop muted".split())
#: Of `link`: what is for browsers. The canonical URL is kept beside the units.
_FOR_BROWSERS = frozenset(
    "stylesheet icon shortcut preload modulepreload prefetch preconnect dns-prefetch prerender canonical "
    "mask-icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image manifest pingback".split()
)

_URL = re.compile(r"(?:https?:)?//[^\s/]|/[^\s/]", re.IGNORECASE)
_HOST = re.compile(r"(?:https?:)?//[^/?#]*+", re.IGNORECASE)
_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{1,4}(?:[?#]|$)")
_PAGE_FILE = re.compile(r"\.(?:[a-z]?html?|php|aspx?|jsp|cgi)(?:[?#]|$)", re.IGNORECASE)
#: What leads to no page: `mailto:`, `javascript:`; and what leads to the same.
_ELSEWHERE = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_HERE = re.compile(r"\s*(?:#|$)")
_STYLE_URL = re.compile(r"url\(\s*[\"']?([^\"')]*+)", re.IGNORECASE)
#: What a style sheet says by itself: text that it puts on the page, and values of its own.
_STYLE_VALUE = re.compile(r"(?:\bcontent|(?<![\w-])--[\w-]++)\s*+:[^;{}]++", re.IGNORECASE)
_CANDIDATE = re.compile(r"([^\s,](?:\S*[^\s,])?)(?:\s+[^,]*+)?")
_REFRESH = re.compile(r"\s*[0-9.]*\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)


class Plan:
    """What to look for in tags that have the same attributes."""

    __slots__ = ("classes", "ident", "is_raw", "is_void", "makers", "names", "style", "tag")

    def __init__(self, tag: str, names: tuple[str, ...], *, is_data: bool) -> None:
        self.tag, self.names = tag, names
        self.is_void, self.is_raw = tag[0] in "!?", not is_data and tag in RAW
        self.makers: list[tuple[int | None, Maker]] = []
        order = {name: index for index, name in enumerate(names)}
        self.ident, self.classes, self.style = None, None, None
        if is_data:
            self.makers.extend((at, _as_value(f"[{unnumbered(name)}]")) for name, at in order.items())
            return
        self.is_void = self.is_void or tag in VOID
        self.ident, self.classes, self.style = order.get("id"), order.get("class"), order.get("style")
        self.makers.extend((None, _as_state(name)) for name in order if name in _STATES)
        makers = [(at, _maker(tag, name)) for name, at in order.items()]
        self.makers.extend((at, maker) for at, maker in makers if maker is not None)
        if tag in _CONTROLS:
            self.makers.append((None, _of_control))


@lru_cache(maxsize=4096)
def _plan(skeleton: str, *, is_data: bool) -> Plan:
    # Garbage without a name is passed over, as a comment is.
    tag, *names = skeleton.replace("=", " ").split() or ["!"]
    return Plan(tag, tuple(names), is_data=is_data)


def opened(path: Path, raw: str) -> Opened:
    """Read the start tag *raw* at *path*."""
    pieces = raw.split('"')
    plan = _plan("".join(pieces[::2]), is_data=path.is_data)
    values = pieces[1::2]
    if len(values) < len(plan.names):  # a quote in a name
        values += [""] * (len(plan.names) - len(values))
    tag = plan.tag
    if (tag in _LEFT_OUT and not path.is_data) or tag[0] in "!?":
        inside, shows = path, ""
    else:
        ident = "" if plan.ident is None else values[plan.ident]
        classes = "" if plan.classes is None else values[plan.classes]
        style = "" if plan.style is None else values[plan.style]
        inside = path.below(step_of(tag, ident, classes))
        shows = f"{classes} {style}" if classes or style else tag
    emissions: tuple[Emission, ...] = ()
    if plan.makers:
        values = [unescape(value) if "&" in value else value for value in values]
        emissions = tuple(emissions_of(inside, _made(plan, values)))
    return Opened(inside, plan, emissions, shows)


def _made(plan: Plan, values: list[str]) -> Iterator[Found]:
    attributes = dict(zip(plan.names, values, strict=False))
    for index, maker in plan.makers:
        value = "" if index is None else values[index]
        if value or index is None:
            yield from maker(value, attributes)


def emissions_of(path: Path, made: Iterable[Found]) -> Iterator[Emission]:
    """The units of *made* at *path*."""
    for what, kind, inside, said, named in made:
        place = path.at(kind, inside)
        if what in _WITH_PARTS:
            beside = path.at(Kind.OWN_LINK if what is What.LINK else Kind.FIELD, inside)
            if what is What.LINK:
                path.at(Kind.OWN, inside)  # so that it has a name
            yield Emission(what, place, said, beside)
            if what is What.LINK and "?" in said and is_file(said):
                # Where its query is signed anew at each fetch, its path still says which file it is.
                where = path.at(Kind.FIELD, inside) | value_of(
                    f"path {_HOST.sub('', said).partition('?')[0]}"
                )
                yield Emission(What.PLAIN, where, "", 0)
        elif what is What.ACTION:
            yield Emission(what, place, said, path.at(Kind.OWN, inside))
        elif kind is Kind.TEXT:
            yield from (Emission(What.PLAIN, place | value, "", 0) for value in values_of(said))
        elif says_something(said):
            own, whole = 0 if what is What.PLAIN else path.at(Kind.OWN, inside), decoded(said)
            yield Emission(what, place | value_of(named + said), whole, own)
            for value in parts_of(said):
                yield Emission(what, place | value, whole, own)


def _maker(tag: str, name: str) -> Maker | None:  # noqa: C901 - one line for each sort of attribute
    if tag in ("meta", "link", "base"):
        return _WHOLE[tag] if name == ("content" if tag == "meta" else "href") else None
    if name in _ACTIONS:
        return _of_action
    if name in _LINKS:
        return _of_medium if tag in _DRAWN else _of_link
    if name in _MEDIA:
        return _of_picture_button if tag == "input" else _of_frame if tag in _FRAMES else _of_medium
    if name in _SRCSETS:
        return _of_srcset
    if name == "style":
        return _of_style
    if name == "alt":
        return _of_alt
    if name in _UNSAID or (name in _DATA and tag in _CONTROLS):
        return None
    if name == "id":
        return _of_id
    if name in _DATA:
        return _as_data(f"[{name}]")
    if name.startswith("data-"):
        return _as_custom_data(f"[{unnumbered(name)}]")
    return _as_field(f"[{unnumbered(name)}]")


def _of_meta(content: str, attributes: Attributes) -> Iterator[Found]:
    if attributes.get("http-equiv", "").lower() == "refresh":
        target = _REFRESH.match(content)
        if target:
            yield Found(What.LINK, Kind.LINK, "", target[1])
    elif "itemprop" in attributes:
        yield Found(What.PLAIN, Kind.DATA, f"[{unnumbered(attributes['itemprop'])}]", content)
    else:
        name = attributes.get("name") or attributes.get("property") or ""
        yield Found(What.FIELD, Kind.FIELD, f"[{unnumbered(name)}]", content, f"{name}=")


def _of_relation(href: str, attributes: Attributes) -> Iterator[Found]:
    relation = attributes.get("rel", "").lower()
    if relation == "preload" and attributes.get("as", "").lower() == "image":
        yield Found(What.MEDIA, Kind.MEDIA, "[preload]", href)
    elif not _FOR_BROWSERS.intersection(relation.split()):
        yield Found(What.LINK, Kind.LINK, f"[{unnumbered(relation)}]", href)


def _of_base(href: str, attributes: Attributes) -> Iterator[Found]:
    yield Found(What.BASE, Kind.LINK, "", href)


_WHOLE: dict[str, Maker] = {"meta": _of_meta, "link": _of_relation, "base": _of_base}


def _of_control(_: str, attributes: Attributes) -> Iterator[Found]:
    name, state = attributes.get("name", ""), [one for one in ("checked", "selected") if one in attributes]
    value = attributes.get("value", "") or "on" * bool(state)
    yield Found(What.FIELD, Kind.FIELD, f"[{unnumbered(name)}]", value, "&".join((*state, f"{name}=")))


def _of_action(url: str, attributes: Attributes) -> Iterator[Found]:
    yield Found(What.ACTION, Kind.LINK, "", url)


def _of_link(url: str, attributes: Attributes) -> Iterator[Found]:
    if _ELSEWHERE.match(url):
        yield Found(What.PLAIN, Kind.FIELD, "[href]", url)
    else:
        if not _HERE.match(url):
            yield Found(What.LINK, Kind.LINK, "", url)
        # As with ids: a fragment with a number names a thing, and one without names a place.
        fragment = url.partition("#")[2]
        if unnumbered(fragment) != fragment:
            yield Found(What.FIELD, Kind.FIELD, "[#]", fragment)
    if "itemprop" in attributes or "property" in attributes:
        yield Found(What.PLAIN, Kind.DATA, "[href]", url)


def _of_medium(url: str, attributes: Attributes) -> Iterator[Found]:
    yield Found(What.MEDIA, Kind.MEDIA, "", url)


def _of_frame(url: str, attributes: Attributes) -> Iterator[Found]:
    yield Found(What.FRAME, Kind.MEDIA, "", url)


def _of_picture_button(url: str, attributes: Attributes) -> Iterator[Found]:
    if attributes.get("type", "").lower() == "image":
        yield Found(What.MEDIA, Kind.MEDIA, "", url)


def _of_srcset(value: str, attributes: Attributes) -> Iterator[Found]:
    return (Found(What.MEDIA, Kind.MEDIA, "", url) for url in _CANDIDATE.findall(value))


def _of_style(value: str, attributes: Attributes) -> Iterator[Found]:
    return found_in_style(value)


def _of_alt(value: str, attributes: Attributes) -> Iterator[Found]:
    yield Found(What.PLAIN, Kind.TEXT, "", value)


def _as_data(inside: str) -> Maker:
    return lambda value, _: [Found(What.PLAIN, Kind.DATA, inside, value)]


def _as_field(inside: str) -> Maker:
    return lambda value, _: [Found(What.FIELD, Kind.FIELD, inside, value)]


def _of_id(value: str, _: Attributes) -> list[Found]:
    """The value of an id with a number, which names a thing; an id without one names a place."""
    return [Found(What.FIELD, Kind.FIELD, "[id]", value)] if unnumbered(value) != value else []


def _as_state(name: str) -> Maker:
    """Makes the unit of an attribute that says something by being there, such as ``disabled``."""

    def make(_: str, attributes: Attributes) -> list[Found]:
        return [] if attributes[name] else [Found(What.PLAIN, Kind.FIELD, f"[{name}]", name)]

    return make


def _as_custom_data(inside: str) -> Maker:
    """Makes the unit of an attribute that scripts read. A URL in it is what they will show, or where they will lead."""

    def make(value: str, _: Attributes) -> list[Found]:
        if not _URL.match(value) or " " in value.strip():
            return [Found(What.FIELD, Kind.FIELD, inside, value)]
        if "src" in inside or is_file(value):
            return [Found(What.MEDIA, Kind.MEDIA, inside, value)]
        return [Found(What.LINK, Kind.LINK, inside, value)]

    return make


def _as_value(inside: str) -> Maker:
    """Makes the unit of an attribute in XML."""

    def make(value: str, _: Attributes) -> list[Found]:
        if not _URL.match(value) or " " in value.strip():
            return [Found(What.ADDRESS, Kind.DATA, inside, value)]
        if is_file(value):
            return [Found(What.MEDIA, Kind.MEDIA, inside, value)]
        return [Found(What.ACTION, Kind.LINK, inside, value)]

    return make


def found_in_style(sheet: str) -> Iterator[Found]:
    """The URLs in a style sheet or a `style` attribute, and its other text as one value."""
    yield from (Found(What.MEDIA, Kind.MEDIA, "", url) for url in _STYLE_URL.findall(sheet))
    if said := _STYLE_VALUE.findall(sheet):
        yield Found(What.PLAIN, Kind.DATA, "[style]", ";".join(said))


def is_file(url: str) -> bool:
    """Whether a URL names a file that is no page: a picture, a film, a document."""
    return _FILE.search(url) is not None and not _PAGE_FILE.search(url)
