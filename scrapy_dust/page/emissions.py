"""The units that a start tag makes of its attributes, as far as the tag and its place decide.

Tags are given as the parser writes them: `a class="x" href="/y"`, each attribute with its value in double quotes, and
no such quote in a value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy_dust.page.own import decoded
from scrapy_dust.page.paths import Path, step_of, unnumbered
from scrapy_dust.page.places import Kind
from scrapy_dust.page.values import says_something, value_of, values_of, values_of_field

if TYPE_CHECKING:
    from scrapy_dust.page.subtrees import Subtree


class What(IntEnum):
    """The step that turns an emission into a unit, where that depends on more than the page's own URL."""

    ADDRESS = 0  #: it may be the page's own URL, as a whole
    ACTION = 1  #: likewise, and its URL is not absolute yet
    MEDIA = 2  #: its URL is not absolute yet
    FRAME = 3  #: as a medium, and its host counts: a site spreads its pictures over several hosts, and no other documents
    BASE = 4  #: it is the base of the document's URLs
    CANONICAL = 5  #: the page names it as its own URL
    SPOT = 6  #: a spot of a document, to which a link leads


#: A unit, the place times 2**32 that it has if it repeats the page's own URL or a part of it, and its value, decoded.
Field = tuple[int, int, str]
#: The place of a link, its place if it leads to the page itself, both times 2**32, and its URL as it stands.
Link = tuple[int, int, str]
#: What is to be done, the unit or its place, the decoded value or the URL as it stands, and a second place, times 2**32.
Emission = tuple[What, int, str, int]


class Emissions:
    """The units of a part of a document, and the parts that become units once the document's URL is known."""

    __slots__ = ("fields", "links", "others", "units")

    def __init__(self) -> None:
        self.units: list[int] = []
        self.fields: list[Field] = []
        self.links: list[Link] = []
        self.others: list[Emission] = []

    def __len__(self) -> int:
        return len(self.units) + len(self.fields) + len(self.links) + len(self.others)

    def add_link(self, path: Path, inside: str, url: str) -> None:
        """Add a link to *url* in the attribute *inside*."""
        place, own_place = path.places_of_links(inside)
        self.links.append((place, own_place, url))
        if "?" in url and is_file(url):
            # Where its query is signed anew at each fetch, its path still says which file it is.
            value = value_of(f"path {_HOST.sub('', url).partition('?')[0]}")
            self.units.append(path.at(Kind.FIELD, inside) | value)

    def add_medium(self, path: Path, inside: str, url: str, what: What = What.MEDIA) -> None:
        """Add a picture or another file at *url*."""
        self.others.append((what, path.at(Kind.MEDIA, inside), url, path.at(Kind.FIELD, inside)))

    def add_action(self, path: Path, inside: str, url: str) -> None:
        """Add a URL that may be the page's own."""
        self.others.append((What.ACTION, path.at(Kind.LINK, inside), url, path.at(Kind.OWN, inside)))

    def add_text(self, path: Path, text: str) -> None:
        """Add what a person reads."""
        place = path.at(Kind.TEXT)
        self.units += [place | value for value in values_of(text)]

    def add_word(self, path: Path, inside: str, said: str) -> None:
        """Add one value for *said*, whatever numbers are in it, unless it repeats the page's own URL."""
        self.fields.append(
            (path.at(Kind.FIELD, inside) | value_of(said), path.at(Kind.OWN, inside), decoded(said))
        )

    def add_spot(self, path: Path, url: str) -> None:
        """Add the part of a link's *url* after ``#``.

        As with ids, a part with a number names a thing, and one without names a spot. The spots of the page itself to
        which the links of one place lead are one unit; a link in the element of which it is the id names nothing else.
        """
        spot = url.partition("#")[2]
        if unnumbered(spot) != spot:
            self.add_field(path, Kind.FIELD, "[#]", spot)
        elif spot and _HERE.match(url) and not path.is_in(spot):
            self.others.append((What.SPOT, path.at(Kind.FIELD, "[#]"), spot, 0))

    def add_field(self, path: Path, kind: Kind, inside: str, said: str, named: str = "") -> None:
        """Add a value that may repeat the page's own URL, or a part of it. *named*: what stands before it."""
        if says_something(said):
            place, own, whole = path.at(kind, inside), path.at(Kind.OWN, inside), decoded(said)
            self.fields += [(place | value, own, whole) for value in values_of_field(said, named)]

    def add_address(self, path: Path, inside: str, said: str, named: str = "") -> None:
        """Add a value that may be the page's own URL, as a whole."""
        if says_something(said):
            place, own, whole = path.at(Kind.DATA, inside), path.at(Kind.OWN, inside), decoded(said)
            self.others += [
                (What.ADDRESS, place | value, whole, own) for value in values_of_field(said, named)
            ]

    def add_value(self, path: Path, kind: Kind, inside: str, said: str, named: str = "") -> None:
        """Add a value that says the same on every page."""
        if says_something(said):
            place = path.at(kind, inside)
            self.units += [place | value for value in values_of_field(said, named)]


class Opened:
    """The result of a start tag at one place: the path below it, and the units of its attributes."""

    __slots__ = (
        "credit",
        "fields",
        "is_plain",
        "known",
        "links",
        "mark",
        "others",
        "path",
        "plan",
        "refers",
        "says",
        "shows",
        "ticks",
        "units",
    )

    def __init__(self, path: Path, plan: Plan, made: Emissions | None, shows: str, ticks: int) -> None:
        self.path = path  #: of what is in the element
        self.mark = path.mark
        self.plan = plan
        self.units: Sequence[int] = (made.units if made is not None else None) or ()
        self.fields: Sequence[Field] = (made.fields if made is not None else None) or ()
        self.links: Sequence[Link] = (made.links if made is not None else None) or ()
        self.others: Sequence[Emission] = (made.others if made is not None else None) or ()
        self.says = bool(made)  #: it has units of its own
        self.ticks = ticks  #: what is true or false of it, as a part of what it stands beside; 0: nothing
        self.refers = _references(self.others) if path.is_data else ()  #: URLs that it says
        self.is_plain = not (
            plan.is_void or plan.is_raw or self.refers
        )  #: what is in it, are texts and elements
        self.shows = shows  #: what it shows by itself where nothing is in it
        self.known: dict[str, Subtree] | None = None  #: what was in such elements, by how it begins
        self.credit = 0  #: how often more is remembered of what is in such elements


def _references(emissions: Sequence[Emission]) -> tuple[str, ...]:
    """The URLs of *emissions* that may be the page's own, or that lead to files."""
    return tuple([one[2] for one in emissions if one[0] in (What.ACTION, What.MEDIA)])


Attributes = Mapping[str, str]
#: Adds what the value of an attribute says at a path.
Maker = Callable[[Emissions, Path, str, Attributes], None]

#: Elements that hold text which looks like tags.
RAW = ("script", "style", "noscript", "iframe", "xmp", "noembed", "noframes", "plaintext")
VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
_LEFT_OUT = frozenset({"html", "head", "body"})
#: Elements whose parts say something by their order.
_ORDERED = frozenset({"tr", "ol"})
#: Elements whose parts say nothing by their order.
_HEAPS = frozenset({"ul", "menu"})
_CONTROLS = frozenset({"input", "button", "option", "select", "textarea"})
#: Elements that are parts of a line of text. Links are none: several of them are a menu.
_LINE = frozenset(
    "abbr b bdi bdo big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var".split()
)
#: Elements that show another document.
_FRAMES = frozenset({"iframe", "frame", "object", "embed"})
#: Elements of drawings that show what they link.
_DRAWN = frozenset({"use", "image"})

_MEDIA = frozenset("src poster data background lowsrc dynsrc xlink:href".split())
_SRCSETS = frozenset("srcset imagesrcset data-srcset".split())
_LINKS = frozenset("href longdesc cite".split())
_ACTIONS = frozenset({"action", "formaction"})
#: What says how an element looks, and what is said elsewhere.
_UNSAID = frozenset("name type".split())
_DATA = frozenset("content datetime value".split())
#: What options have beside what is said of them.
_OF_OPTION = frozenset("value selected disabled class id label".split())
_URL_LIKE = re.compile(r"[/?=&]")
#: What a thing in a list may be.
_TICKS = frozenset("checked selected disabled open".split())
_STATES = frozenset("disabled readonly required hidden open reversed controls loop muted".split())
#: Relations of `link` elements whose URLs are for browsers only.
_FOR_BROWSERS = frozenset(
    "stylesheet icon shortcut preload modulepreload prefetch preconnect dns-prefetch prerender "
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
#: Numbers that are no parts of a token.
_NUMBERS = re.compile(r"(?:[^0-9]*+[0-9]++(?![0-9A-Za-z]))++[^0-9]*+")
_CANDIDATE = re.compile(r"([^\s,](?:\S*[^\s,])?)(?:\s+[^,]*+)?")
_REFRESH = re.compile(r"\s*[0-9.]*\s*[;,]\s*(?:url\s*=\s*)?[\"']?([^\"']+)", re.IGNORECASE)


#: Elements and attributes whose meaning depends on other attributes.
_BY_OTHERS = _CONTROLS | _STATES | {"meta", "link", "itemprop", "property"}
_NAMES = frozenset({"id", "class"})
_NO_ATTRIBUTES: Attributes = MappingProxyType({})


class Plan:
    """A plan of what to look for in tags that have the same attributes."""

    __slots__ = (
        "classes",
        "ident",
        "is_heap",
        "is_line",
        "is_raw",
        "is_row",
        "is_void",
        "makers",
        "names",
        "needs_names",
        "style",
        "tag",
    )

    def __init__(self, tag: str, names: tuple[str, ...], *, is_data: bool) -> None:
        self.tag, self.names = tag, names
        self.is_void = tag[0] in "!?" or (
            not is_data and tag in VOID
        )  #: nothing is in it, and it has no end tag
        self.is_raw = not is_data and tag in RAW  #: the parser does not look into it
        self.is_row = tag in _ORDERED
        self.is_heap = tag in _HEAPS
        self.is_line = not is_data and tag in _LINE  #: it is a part of a line of text
        self.makers: list[tuple[int | None, Maker]] = []
        order = {name: index for index, name in enumerate(names)}
        #: what an attribute says depends on others
        self.needs_names = not is_data and (
            tag in _BY_OTHERS or not _BY_OTHERS.isdisjoint(names) or _NAMES.issubset(names)
        )
        self.ident, self.classes, self.style = None, None, None
        if is_data:
            self.makers.extend((at, _as_value(f"[{unnumbered(name)}]")) for name, at in order.items())
            return
        self.ident, self.classes, self.style = order.get("id"), order.get("class"), order.get("style")
        self.makers.extend((None, _as_state(name)) for name in order if name in _STATES)
        makers = [(at, _maker(tag, name)) for name, at in order.items()]
        self.makers.extend((at, maker) for at, maker in makers if maker is not None)
        if tag in _CONTROLS:
            self.makers.append((None, _of_control))


@lru_cache(maxsize=4096)
def _plan(skeleton: str, is_data: bool) -> Plan:
    """The plan for tags that have the names in *skeleton*: a start tag without the values of its attributes."""
    # Garbage without a name is passed over, as a comment is.
    tag, *names = skeleton.replace("=", " ").split() or ["!"]
    return Plan(tag, tuple(names), is_data=is_data)


def opened(path: Path, raw: str) -> Opened:
    """The element that the start tag *raw* opens inside *path*: its own path, and the units that its attributes make."""
    pieces = raw.split('"')
    plan = _plan("".join(pieces[::2]), path.is_data)
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
    if not plan.makers:
        return Opened(inside, plan, None, shows, 0)
    values = [unescape(value) if "&" in value else value for value in values]
    made = _made(inside, plan, values)
    if tag in _DRAWN and any(other[0] is What.MEDIA for other in made.others):
        shows = ""
    return Opened(inside, plan, made, shows, 0 if path.is_data else _ticks_of(plan, values))


def _ticks_of(plan: Plan, values: list[str]) -> int:
    """A number for the attributes that are true or false of an element, such as ``checked``, for how it looks, without
    numbers, and for the other attributes of an option; 0: none.
    """
    says_more = plan.tag == "option" and not _OF_OPTION.issuperset(plan.names)
    ticked = [
        f"{name}={value}"
        for name, value in zip(plan.names, values, strict=False)
        if name in _TICKS or value in ("true", "false") or (says_more and not _URL_LIKE.search(value))
    ]
    if plan.style is not None and (look := unnumbered(_look_of(values[plan.style]))):
        ticked.append(f"style={look}")
    return value_of(" ".join(ticked)) if ticked else 0


def _made(path: Path, plan: Plan, values: list[str]) -> Emissions:
    """The units of a start tag whose attributes have these *values*."""
    attributes = dict(zip(plan.names, values, strict=False)) if plan.needs_names else _NO_ATTRIBUTES
    made = Emissions()
    for index, maker in plan.makers:
        value = "" if index is None else values[index]
        if value or index is None:
            maker(made, path, value, attributes)
    return made


def _maker(tag: str, name: str) -> Maker | None:  # noqa: C901, PLR0912 - one line for each sort of attribute
    """The function that makes units of the attribute *name* of *tag* elements; None if the attribute says nothing."""
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
    if tag in _LEFT_OUT and name in ("class", "id"):
        return _of_words(f"{tag}[{name}]")
    if name == "alt":
        return _of_alt
    if name in _UNSAID or (name in _DATA and tag in _CONTROLS):
        return None
    if name == "id":
        return _of_id
    if name == "class":
        return _of_class
    if name in _DATA:
        return _as_data(f"[{name}]")
    if name.startswith("data-"):
        return _as_custom_data(f"[{unnumbered(name)}]")
    return _as_field(f"[{unnumbered(name)}]")


def _of_meta(made: Emissions, path: Path, content: str, attributes: Attributes) -> None:
    """Add the target of a refresh, or the content of a ``meta`` element under its name."""
    if attributes.get("http-equiv", "").lower() == "refresh":
        target = _REFRESH.match(content)
        if target:
            made.add_link(path, "", target[1])
    elif "itemprop" in attributes:
        made.add_value(path, Kind.DATA, f"[{unnumbered(attributes['itemprop'])}]", content)
    else:
        name = attributes.get("name") or attributes.get("property") or ""
        made.add_field(path, Kind.FIELD, f"[{unnumbered(name)}]", content, f"{name}=")


def _of_relation(made: Emissions, path: Path, href: str, attributes: Attributes) -> None:
    """Add the URL of a ``link`` element by its relation, if it is no business of browsers alone."""
    relation = attributes.get("rel", "").lower()
    if relation == "preload" and attributes.get("as", "").lower() == "image":
        made.add_medium(path, "[preload]", href)
    elif "canonical" in relation.split():
        made.others.append((What.CANONICAL, 0, href, 0))
    elif not _FOR_BROWSERS.intersection(relation.split()):
        language = attributes.get("hreflang", "").lower()
        made.add_link(path, f"[{unnumbered(relation)}]{language and f'[{language}]'}", href)


def _of_base(made: Emissions, path: Path, href: str, _: Attributes) -> None:
    made.others.append((What.BASE, 0, href, 0))


_WHOLE: dict[str, Maker] = {"meta": _of_meta, "link": _of_relation, "base": _of_base}


def _of_control(made: Emissions, path: Path, _: str, attributes: Attributes) -> None:
    """Add the value and the state of a form's control."""
    name, state = (
        attributes.get("name", ""),
        [one for one in ("checked", "selected", "disabled") if one in attributes],
    )
    value = attributes.get("value", "") or "on" * bool(state)
    inside = f"[{unnumbered(name)}]"
    if _is_url(value) and not state:
        # A form leads there, or back there.
        if is_file(value):
            made.add_medium(path, inside, value)
        else:
            made.add_action(path, inside, value)
        return
    made.add_field(path, Kind.FIELD, inside, value, "&".join((*state, f"{name}=")))


def _of_action(made: Emissions, path: Path, url: str, _: Attributes) -> None:
    made.add_action(path, "", url)


def _of_link(made: Emissions, path: Path, url: str, attributes: Attributes) -> None:
    """Add a link, and the spot to which it leads; a URL that is not fetched, such as ``mailto:``, as a value."""
    # Most begin with a slash, and need no closer look.
    if url[0] != "/" and _ELSEWHERE.match(url):
        made.add_value(path, Kind.FIELD, "[href]", url)
    else:
        if url[0] == "/" or not _HERE.match(url):
            made.add_link(path, "", url)
        if "#" in url:
            made.add_spot(path, url)
    if "itemprop" in attributes or "property" in attributes:
        made.add_value(path, Kind.DATA, "[href]", url)


def _of_medium(made: Emissions, path: Path, url: str, _: Attributes) -> None:
    made.add_medium(path, "", url)


def _of_frame(made: Emissions, path: Path, url: str, _: Attributes) -> None:
    made.add_medium(path, "", url, What.FRAME)


def _of_picture_button(made: Emissions, path: Path, url: str, attributes: Attributes) -> None:
    if attributes.get("type", "").lower() == "image":
        made.add_medium(path, "", url)


def _of_srcset(made: Emissions, path: Path, value: str, _: Attributes) -> None:
    for url in _CANDIDATE.findall(value):
        made.add_medium(path, "", url)


def _of_style(made: Emissions, path: Path, value: str, _: Attributes) -> None:
    _add_pictures(made, path, value)
    if look := _look_of(value):
        made.add_word(path, "[style]", look)


def _of_alt(made: Emissions, path: Path, value: str, _: Attributes) -> None:
    made.add_text(path, value)


def _of_id(made: Emissions, path: Path, value: str, _: Attributes) -> None:
    # An id with a number names a thing; an id without one names a place.
    if unnumbered(value) != value:
        made.add_field(path, Kind.FIELD, "[id]", value)


def _of_class(made: Emissions, path: Path, value: str, attributes: Attributes) -> None:
    """Add the only class with a number, such as ``stars-4``, unless it is the element's id, too. Several say how it
    looks.
    """
    if unnumbered(value) != value:
        numbered = [one for one in value.split() if unnumbered(one) != one]
        if len(numbered) == 1 and _NUMBERS.fullmatch(numbered[0]) and numbered[0] != attributes.get("id"):
            made.add_field(path, Kind.FIELD, "[class]", numbered[0])


def _of_words(inside: str) -> Maker:
    """A function that makes a unit of each word of an attribute of the whole document, whose elements are in no path."""

    def make(made: Emissions, path: Path, value: str, _: Attributes) -> None:
        for word in dict.fromkeys(value.split()):
            made.add_word(path, inside, word)

    return make


def _as_data(inside: str) -> Maker:
    """A function that makes a unit of the attribute *inside* as data that never repeats the page's own URL."""
    return lambda made, path, value, _: made.add_value(path, Kind.DATA, inside, value)


def _as_field(inside: str) -> Maker:
    """A function that makes a unit of the attribute *inside* as a value that may repeat the page's own URL."""
    return lambda made, path, value, _: made.add_field(path, Kind.FIELD, inside, value)


def _as_state(name: str) -> Maker:
    """A function that makes the unit of the attribute *name*, which says something by being there, such as
    ``disabled``.
    """

    def make(made: Emissions, path: Path, _: str, attributes: Attributes) -> None:
        if not attributes[name]:
            made.add_value(path, Kind.FIELD, f"[{name}]", name)

    return make


def _as_custom_data(inside: str) -> Maker:
    """A function that makes the unit of an attribute for scripts, such as ``data-src``. A URL in it says what the
    script shows, or where it leads.
    """

    def make(made: Emissions, path: Path, value: str, _: Attributes) -> None:
        if not _is_url(value):
            made.add_field(path, Kind.FIELD, inside, value)
        elif "src" in inside or is_file(value):
            made.add_medium(path, inside, value)
        else:
            made.add_link(path, inside, value)

    return make


def _as_value(inside: str) -> Maker:
    """A function that makes the unit of an attribute in XML."""

    def make(made: Emissions, path: Path, value: str, _: Attributes) -> None:
        if not _is_url(value):
            made.add_address(path, inside, value)
        elif is_file(value):
            made.add_medium(path, inside, value)
        else:
            made.add_action(path, inside, value)

    return make


def _is_url(value: str) -> bool:
    return _URL.match(value) is not None and " " not in value.strip()


def _look_of(style: str) -> str:
    """The text of a `style` attribute, without URLs and white space."""
    return "".join(_STYLE_URL.sub("url(", style).split())


def add_style(made: Emissions, path: Path, sheet: str) -> None:
    """Add the pictures in a style sheet, and its texts and values of its own as one value."""
    _add_pictures(made, path, sheet)
    if said := _STYLE_VALUE.findall(sheet):
        made.add_value(path, Kind.DATA, "[style]", ";".join(said))


def _add_pictures(made: Emissions, path: Path, style: str) -> None:
    for url in _STYLE_URL.findall(style):
        made.add_medium(path, "", url)


def is_file(url: str) -> bool:
    """Whether a URL names a file that is no page: a picture, a film, a document."""
    return _FILE.search(url) is not None and not _PAGE_FILE.search(url)
