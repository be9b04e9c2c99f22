"""Forms of URLs: the path template and the names of parameters, equal for all URLs that one page template makes.

A path template has 0 for a number, * for an id and ~ for a name made of several words. A plain word stands for
itself, until so many different words were seen in its place that the next one is most probably another: then it
becomes ~ too.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from scrapy_dust.url.value_classes import MIXED_ID, has_id

#: Different words in one place of a path from which on they are ~: below the top of a site, and at its top.
_WORDS, _WORDS_AT_TOP = 8, 24
#: At the top a word that was seen so often is a section of the site, and stays itself.
_SECTION = 8
#: Places of paths whose words are remembered.
_PLACES = 50_000
#: Parts of a path, and names of parameters, that count.
_DEPTH, _NAMES = 10, 8
#: The end of the template of a path that repeats itself, or is deeper than any that counts.
ENDLESS = "…"
#: The end of the family of URLs that repeat others, but for idle parameters.
AGAIN = " again"

_NUMBER = re.compile(r"[0-9]+")
_NAMED_NUMBER = re.compile(r"([^\W\d_]+)[0-9]+")
_HEXADECIMAL = re.compile(r"(?=[A-Fa-f]*[0-9])[0-9A-Fa-f]{6,}")
#: Characters of an id.
_SHORTEST = 6
_SEPARATED = re.compile(r"[\W_]")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}")


class Form(NamedTuple):
    """The form of URLs: a path template (family) and the names of parameters."""

    family: str  #: scheme, host and path template
    names: tuple[str, ...] = ()  #: of parameters, in order

    @property
    def text(self) -> str:
        """The form as text."""
        return f"{self.family}?{'&'.join(self.names)}" if self.names else self.family

    def is_kin_of(self, other: Form) -> bool:
        """Whether *other* is of the same family, or of one whose path template differs only in the kinds of its ids."""
        one, another = self.family, other.family
        if one == another or len(one) != len(another):
            return one == another
        return one.replace("*", "0") == another.replace("*", "0")

    @property
    def again(self) -> Form:
        """The form for URLs that repeat URLs of this form."""
        return self if self.is_again else self._replace(family=self.family + AGAIN)

    @property
    def first(self) -> Form:
        """The form of the URLs that URLs of this form repeat; the form itself if they repeat none."""
        return self._replace(family=self.family.removesuffix(AGAIN))

    @property
    def is_again(self) -> bool:
        """Whether this is a form of URLs that repeat others."""
        return self.family.endswith(AGAIN)

    @property
    def host(self) -> str:
        """The host of the URLs."""
        return self.family.partition("://")[2].partition("/")[0]

    @property
    def combines(self) -> bool:
        """Whether the URLs have several parameters, or there are too many such forms to tell them apart."""
        return len(self.names) > 1 or ENDLESS in self.names

    @property
    def is_endless(self) -> bool:
        """Whether the path repeats itself."""
        return self.family.endswith(ENDLESS)


@dataclass(slots=True)
class _Place:
    """One place of paths: what is written there, and the places below it."""

    form: Form  #: of URLs that end here
    seen: Counter[str] = field(default_factory=Counter)  #: words of the next part
    are_many: bool = False  #: these words stand for one another, but for those in `seen`
    below: dict[str, _Place] = field(default_factory=dict)  #: by the template of the next part

    def template_of(self, part: str, most: int) -> str:
        """The template of *part*, the next part of a URL. A plain word stands for itself until more than *most* words were
        seen here.
        """
        if part.isdigit() and part.isascii():
            return "0"
        kind, word = _sign_and_word(part)
        if not word:
            return kind
        if not self.are_many:
            self.seen[word] += 1
            if len(self.seen) <= most:
                return kind
            self.are_many = True
            self.seen = Counter({one: n for one, n in self.seen.items() if most > _WORDS and n >= _SECTION})
            self.below.clear()
        return kind if word in self.seen else kind.replace(word, "~", 1)


class Forms:
    """Finds the forms of URLs in one crawl. It remembers the words that it has seen in paths."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, _Place] = OrderedDict()
        self._places: Counter[str] = Counter()  #: by host
        self._count = 0

    def of(self, url: str, idle: AbstractSet[str] = frozenset()) -> Form:
        """The form of *url*. *idle*: names of parameters that do not count."""
        rest, _, query = url.partition("#")[0].partition("?")
        host, parts, in_path = _split(rest)
        if idle:
            parts = [part for name, part in named(parts) if name not in idle]
        form = self._of_path(host, parts)
        if not query and not in_path:
            return form
        names = tuple(name for name in (*names_of(query), *in_path) if name not in idle)
        return Form(form.family, _parameter_names(names)) if names else form

    def _of_path(self, host: str, parts: list[str]) -> Form:
        """The form of a path with these *parts* on *host*, without parameters."""
        place = self._hosts.get(host)
        if place is None:
            place = self._hosts[host] = _Place(Form(host))
        depth, most = 1 if _repeats(parts) else _DEPTH, _WORDS_AT_TOP
        for part in parts[:depth]:
            kind = place.template_of(part, most)
            place = place.below.get(kind) or self._open(host, place, kind)
            most = _WORDS
        return place.form if len(parts) <= depth else Form(f"{place.form.family}/{ENDLESS}")

    def _open(self, host: str, place: _Place, kind: str) -> _Place:
        """Begin the place of *kind* below *place*."""
        opened = place.below[kind] = _Place(Form(f"{place.form.family}/{kind}"))
        self._places[host] += 1
        self._count += 1
        if self._count > _PLACES:
            oldest, _ = self._hosts.popitem(last=False)
            self._count -= self._places.pop(oldest, 0)
        return opened


def _split(url: str) -> tuple[str, list[str], list[str]]:
    """Scheme and host of *url*, the parts of its path, and the names of the parameters in the path."""
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    if ";" in path:
        return f"{scheme}://{host}", *_without_parameters(path)
    return f"{scheme}://{host}", path.split("/"), []


def names_of(query: str) -> list[str]:
    """The names of the parameters in *query*, in their order; a parameter without ``=`` is its own name."""
    return [one.partition("=")[0] for one in query.replace(";", "&").split("&") if one]


def named(parts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The *parts* of a path, each with a name: a part with an id is named by its place, like a parameter; other parts
    have no name.
    """
    for place, part in enumerate(parts):
        yield (f"/{place}" if len(part) >= _SHORTEST and has_id(part) else ""), part


def kind_of(part: str) -> str:
    """*part* of a path with 0 for numbers and * for ids."""
    return _NUMBER.sub("0", MIXED_ID.sub("*", part)) if _NUMBER.search(part) else part


@lru_cache(maxsize=4096)
def _parameter_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names of parameters as a form has them: numbers as 0, a name with several numbers once with ``+``, and not
    too many.
    """
    counts = Counter(map(kind_of, names))
    told = sorted(f"{name}+" if count > 1 else name for name, count in counts.items())
    return tuple(told) if len(told) <= _NAMES else (*told[:_NAMES], ENDLESS)


def _without_parameters(path: str) -> tuple[list[str], list[str]]:
    """The parts of *path*, and the names of the parameters in it."""
    cut = [part.split(";") for part in path.split("/")]
    return [part[0] for part in cut], [one.partition("=")[0] for part in cut for one in part[1:] if one]


def _repeats(parts: list[str]) -> bool:
    """Whether *parts* has the same part twice, numbers apart."""
    if len(parts) == len(set(parts)):
        return False
    return any(count > 1 and not part.isdigit() for part, count in Counter(filter(None, parts)).items())


@lru_cache(maxsize=4096)
def _sign_and_word(part: str) -> tuple[str, str]:
    """The sign or word for the segment *part* in a path template, and the word of *part* that may be another one on other
    URLs of the form; no word for a number or a mixed text.
    """
    plain = unquote(part) if "%" in part else part
    stem, extension = _without_extension(plain) if "." in plain else (plain, "")
    if stem.isalpha():
        return plain, stem
    if not any(map(str.isalpha, stem)):
        return f"{_NUMBER.sub('0', stem)}{extension}", ""
    if _SEPARATED.search(stem):
        return f"~{extension}", ""
    named = None if _HEXADECIMAL.fullmatch(stem) else _NAMED_NUMBER.fullmatch(stem)
    return (f"*{extension}", "") if named is None else (f"{named[1]}0{extension}", named[1])


def _without_extension(part: str) -> tuple[str, str]:
    """*part* cut in two: before its extension, and the extension with its dot; "" if it has none."""
    stem, dot, end = part.rpartition(".")
    return (stem, dot + end) if stem and _EXTENSION.fullmatch(dot + end) else (part, "")
