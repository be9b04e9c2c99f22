"""The values of the items that a callback took from a page, and the requests that it made up there, as units: for pages
that differ only where they change at each fetch, or not at all, these may say what a spider reads there.

A value counts only if it can come from the page. Left out are the values that

- repeat the page's URL, or several parts of it, or are a URL, or hold markup;
- the request handed on (`meta`, `cb_kwargs`, headers), or the answer's headers say;
- read like the clock, a random id or a counter.

What is left stands on the page (`Kind.TEXT`), or was made of the page in a way that only the spider knows
(`Kind.DATA`). The order of words does not count. Of a field with ids or a counter there is a unit without a value (`CHANCE`),
since a few of many ids may look like something else.

A value that is one segment or one parameter's value of the page's URL is one that the spider took there: the category in
`/women/item/7`. So it counts, unless it reads like an id.

A request is made up if the page has no link to its URL: the spider has built the URL, as that of an API, of what it knows of
the page. Its text is a value that the spider made, and `Kind.LINK` says where it leads.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property

from xxhash import xxh3_64_intdigest

from scrapy_dust.page.own import OwnUrl, decoded, pieces_of
from scrapy_dust.page.places import Kind, name_of, place_of, url_value
from scrapy_dust.page.taking import leaves
from scrapy_dust.page.values import pieces_of as pieces_in
from scrapy_dust.page.values import value_of

#: The kind of a value that may be chance. It is not told, only that the field has such values.
CHANCE = Kind.FIELD

#: Values of one page that count, and values that are looked for on it; characters of a value, at most; words of a value that are
#: looked for, in so many characters.
_VALUES, _MOST_LOOKED_FOR, _LONGEST, _LOOKED_FOR, _LOOKED_IN = 400, 2000, 20_000, 16, 400
#: Characters of a value that says something, and letters of one of its words.
_SHORTEST, _SHORTEST_MADE, _LETTERS = 8, 3, 3
#: So many numbers tell whether a field is a counter, and the share of them that are greater than the one before.
_NUMBERS, _GREATER = 8, 0.9
#: Digits of a number, and of its fraction, that are chance or the clock; characters of a word with digits that is.
_DIGITS, _FRACTION, _MIXED = 9, 5, 6
#: Requests that a callback makes up on one page, at most.
_REQUESTS = 8
#: Fields of which something is remembered.
_FIELDS = 2000
#: The share of a value's words that the page must lack for the value to be made by the spider.
_LACKED = 0.25

_PLAIN = frozenset({str, int, float, Decimal})
_WORD = re.compile(r"[^\W\d_]+|\d+")
_LONG_WORD = re.compile(rf"[^\W\d_]{{{_LETTERS}}}")
_NUMBER = re.compile(r"\d{1,4}")
_TOKEN = re.compile(r"[^\W_]+")
_LONG_TOKEN = re.compile(r"[^\W_]{24,}")
#: Letters beside digits, or small and capital letters in turn.
_MIXED_WORD = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|[a-z][A-Z]+[a-z]+[A-Z]")
_FLOAT = re.compile(r"-?\d+\.?\d*")
_TAG, _TIME = re.compile(r"<[a-zA-Z!/]"), re.compile(r":\d\d")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
#: What stands between words.
_STOPS = str.maketrans(dict.fromkeys(",.;:|/", " "))
#: Signs that may stand between the thousands of a number.
_BETWEEN = ",.'’ \u00a0\u202f"
_LONG_NUMBER = re.compile(rf"\d{{{_DIGITS}}}|\.\d{{{_FRACTION}}}")


class ItemFields:
    """The values of item fields in one crawl so far. They show which fields are constants or counters."""

    def __init__(self) -> None:
        self._places: dict[tuple[Kind, str], tuple[int, str]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._numbers: dict[str, tuple[float, int, int]] = {}  # the latest, how many, how many greater

    def place(self, kind: Kind, field: str) -> tuple[int, str]:
        """The place of values of this *kind* in *field*, and its name."""
        found = self._places.get((kind, field))
        if found is None:
            path = f"item {field}"
            found = place_of(kind, path), name_of(kind, path)
            if len(self._places) < _FIELDS:
                self._places[kind, field] = found
        return found

    def constants(self, field: str, words: frozenset[str]) -> frozenset[str] | None:
        """The words of the value that *field* had before, now *words*; None if *words* are the first."""
        before = self._words.get(field)
        if before is not None or len(self._words) < _FIELDS:
            self._words[field] = words
        return before

    def is_counter(self, field: str, number: float) -> bool | None:
        """Whether the numbers in *field*, of which *number* is the next, always grow; None for too few numbers."""
        before, count, greater = self._numbers.get(field, (number, -1, 0))
        count, greater = count + 1, greater + (number > before)
        if count or len(self._numbers) < _FIELDS:
            self._numbers[field] = number, count, greater
        return greater >= _GREATER * count if count >= _NUMBERS else None


class ItemValues:
    """Collects the values of the items that a callback yields for the page at *url*."""

    def __init__(
        self,
        url: str,
        fields: Collection[str],
        known: ItemFields,
        text: Callable[[], str],
        brought: Iterable[tuple[str, object]] = (),
        headers: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """*fields*: if not empty, only these fields count. *known*: the fields of the crawl. *text*: gives the page's
        text. *brought*: the values that the request handed on, each with a name, or "". *headers*: gives the values
        of all headers of the answer.
        """
        self._url, self._fields, self._known = url, frozenset(fields), known
        self._text_of, self._brought, self._headers_of = (
            text,
            {str(value): name for name, value in brought},
            headers,
        )
        self._units: dict[int, None] = {}
        self._requests: list[tuple[str, str, str]] = []
        self._looked_for = 0
        self.names: dict[int, str] = {}  #: of places
        self.handed_on: set[str] = (
            set()
        )  #: names of values of items that the request handed on and the page does not show

    @property
    def units(self) -> list[int]:
        """The units of what was collected, each a place times 2**32 plus 32 bits of a value; none of too many values."""
        if len(self._requests) <= _REQUESTS:
            for callback, url, sent in self._requests:
                if sent or not self._is_linked(url):
                    self._add_made_up(f"request {callback}", url, sent)
        self._requests.clear()
        return [] if self._are_too_many else list(self._units)

    @property
    def _are_too_many(self) -> bool:
        """Whether the page has given too many values to look at all of them."""
        return len(self._units) > _VALUES or self._looked_for > _MOST_LOOKED_FOR

    def add_request(self, callback: str, url: str, sent: str = "") -> None:
        """Add a request of the callback, for *url*, to be answered by *callback*. *sent*: method and body if it is no plain
        GET.
        """
        if len(self._requests) <= _REQUESTS:
            self._requests.append((callback, url, sent))

    def add_item(self, of_class: str, values: Mapping[str, object]) -> None:
        """Add an item of the class *of_class* with these *values*."""
        chosen = {name: values[name] for name in values if not self._fields or name in self._fields}
        for field, value in leaves(chosen):
            if self._are_too_many:
                return
            if type(value) in _PLAIN:
                self._looked_for += 1
                self._add(f"{of_class} {field}", str(value).strip())

    def _add(self, field: str, said: str) -> None:
        """Add the value *said* of *field*, if it counts."""
        folded = said.casefold()
        is_of_url = folded in self._own_values
        if not (is_of_url or 2 < len(said) <= _LONGEST):
            return
        kind = (
            Kind.DATA
            if is_of_url
            else None
            if self._is_elsewhere(said, folded)
            else self._kind(field, said, folded)
        )
        if kind is not None:
            place, self.names[place] = self._known.place(kind, field)
            whole = kind is Kind.TEXT and folded in self._text
            self._units[place << 32 | (0 if kind is CHANCE else _number(said, folded, whole=whole))] = None

    def _add_made_up(self, field: str, url: str, sent: str) -> None:
        """Add a request that the callback made up: where it leads, and its text without the parameters of the page's URL."""
        own, host = self._own.pieces, pieces_of(self._url)[:1]
        pieces = [piece for piece in pieces_of(url) if "=" not in piece or decoded(piece) not in own]
        said = "/".join([*(pieces[1:] if pieces[:1] == host else pieces), sent])
        is_chance = any(_is_id(piece) for piece in pieces if decoded(piece) not in own)
        kind = CHANCE if is_chance else Kind.DATA
        for of_kind, value in (
            (kind, 0 if is_chance else value_of(said)),
            (Kind.LINK, url_value(url + sent)),
        ):
            place, self.names[place] = self._known.place(of_kind, field)
            self._units[place << 32 | value] = None

    def _is_linked(self, url: str) -> bool:
        """Whether the page has the path and the parameters of *url*, as a link would, from the host on or from the folder of the
        page on.
        """
        folder = _from_host(self._url.partition("?")[0].rpartition("/")[0] + "/").casefold()
        path = _from_host(url).casefold()
        forms = [path, *([path[len(folder) :]] if path.startswith(folder) else [])]
        forms = [form for whole in forms for form in {whole, decoded(whole)}]
        return any(len(form) < 2 or form in self._text or form in self._unescaped for form in forms)

    def _kind(self, field: str, said: str, folded: str) -> Kind | None:
        """The kind of unit for a value: does it stand on the page, is it made of the page, or may it be chance? None:
        it does not count. *folded*: *said* in lower case.
        """
        lacked = () if folded in self._text else self._lacked(folded)
        if not lacked:
            return Kind.TEXT if len(said) >= _SHORTEST and _LONG_WORD.search(said) else None
        constants = self._known.constants(field, frozenset(lacked))
        new = [word for word in lacked if word not in constants] if constants is not None else []
        if not new:
            return None
        if said in self._headers:
            return None
        is_chance = self._is_chance(field, said, new)
        return None if is_chance is None else CHANCE if is_chance else Kind.DATA

    def _lacked(self, folded: str) -> Sequence[str]:
        """The words of a text that the page lacks; none if the page has nearly all of them."""
        words = list(dict.fromkeys(_WORD.findall(folded[:_LOOKED_IN])))[:_LOOKED_FOR]
        lacked = [word for word in words if not self._is_on_page(word)]
        return lacked if len(lacked) >= _LACKED * len(words) else ()

    def _is_chance(self, field: str, said: str, new: Sequence[str]) -> bool | None:
        """Whether *said*, which does not stand on the page, may be the clock, an id made by chance, or a counter; None if
        too few numbers came to tell. *new*: its words that are no constants.
        """
        if _is_id(said):
            return True
        if all(map(str.isdecimal, new)):
            return self._known.is_counter(field, float(said if _FLOAT.fullmatch(said) else new[0]))
        return False

    def _is_elsewhere(self, said: str, folded: str) -> bool:
        """Whether *said* is known without the page: from its URL, from the request, or from the clock."""
        if _is_url_markup_or_time(said):
            return True
        if (name := self._brought.get(said)) is not None:
            if name and folded not in self._own_url and folded not in self._text:
                self.handed_on.add(name)
            return True
        if "=" in said and len(said.split()) == 1:
            return True
        whole = decoded(folded)
        is_own = whole in self._own_url or any(part in whole for part in self._own_parts)
        return is_own or self._is_today(said)

    def _is_today(self, said: str) -> bool:
        """Whether *said* may hold today's date."""
        if not any(year in said for _, _, year in self._days):
            return False
        numbers = frozenset(map(int, _NUMBER.findall(said[:100])))
        return any({month, day} <= numbers for month, day, _ in self._days)

    @cached_property
    def _days(self) -> Collection[tuple[int, int, str]]:
        """Today as month, day and year of two digits, in UTC and in local time."""
        now = datetime.now(UTC)
        return {(at.month, at.day, f"{at:%y}") for at in (now, now.astimezone())}

    @cached_property
    def _own_url(self) -> str:
        return decoded(self._url).casefold()

    @cached_property
    def _own(self) -> OwnUrl:
        return OwnUrl(self._url)

    @cached_property
    def _own_values(self) -> Collection[str]:
        """The segments and the values of parameters of the page's URL that are no ids."""
        pieces = (decoded(piece).casefold().rpartition("=")[2] for piece in pieces_of(self._url)[1:])
        return {piece for piece in pieces if piece and not _is_id(piece)}

    @cached_property
    def _own_parts(self) -> Collection[str]:
        """The longer addresses and the parameters of the page's URL, in lower case."""
        own = self._own
        addresses = {one.casefold() for one in own.addresses if one.count("/") > 1 or "?" in one}
        return addresses | set(self._own_url.partition("#")[0].partition("?")[2].split("&")) - {""}

    @cached_property
    def _headers(self) -> Collection[str]:
        return frozenset(self._headers_of())

    def _is_on_page(self, word: str) -> bool:
        """Whether the page has *word*; of a number also if signs separate its thousands."""
        if not word.isdecimal():
            return word in self._text or word in self._unescaped
        grouped = f"{int(word):,}" if len(word) < _DIGITS else word
        forms = {word, *(grouped.replace(",", sign) for sign in _BETWEEN)}
        return any(form in self._without_ciphers for form in forms)

    @cached_property
    def _text(self) -> str:
        return self._text_of().casefold()

    @cached_property
    def _without_ciphers(self) -> str:
        """The page's text without long words of digits and letters, in which any number stands by chance."""
        return _LONG_TOKEN.sub(lambda found: " " if _is_id(found[0]) else found[0], self._unescaped)

    @cached_property
    def _unescaped(self) -> str:
        """The page's text with the escapes of HTML and of scripts undone."""
        text = html.unescape(self._text) if "&" in self._text else self._text
        if "\\u" in text:
            text = _ESCAPE.sub(lambda escaped: chr(int(escaped[1], 16)), text).casefold()
        return text.replace("\\/", "/")


def _number(said: str, folded: str, *, whole: bool) -> int:
    """The number, of 32 bits, that stands for a value. If the page has the *whole* value as one text, the number is that of the
    text among the page's units; else that of the value's words in any order.
    """
    pieces = pieces_in(said) if whole else ()
    if len(pieces) == 1:
        return value_of(pieces[0])
    words = " ".join(sorted(set(folded.translate(_STOPS).split())))
    return xxh3_64_intdigest(words.encode("utf-8", "surrogatepass")) & 0xFFFFFFFF


def _is_id(said: str) -> bool:
    """Whether *said* holds a number that is too long to count something, or a word of mixed digits and letters."""
    return bool(_LONG_NUMBER.search(said)) or any(
        len(token) >= _MIXED and _MIXED_WORD.search(token) for token in _TOKEN.findall(said)
    )


def _from_host(url: str) -> str:
    """The part of *url* that comes after its host."""
    return "/" + url.partition("#")[0].partition("://")[2].partition("/")[2]


def _is_url_markup_or_time(said: str) -> bool:
    # One pattern for all takes twenty times as long on a long text.
    if said[0] in "/?#" or said.startswith("data:") or "://" in said:
        return True
    if "<" in said and _TAG.search(said):
        return True
    return ":" in said and any(
        said[found.start() - 1 : found.start()].isdecimal() for found in _TIME.finditer(said)
    )


def plain_values(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """The texts and numbers in *values*, however deep, each with its name; "" for one that is in another value."""
    for path, value in leaves(values):
        if type(value) in _PLAIN:
            yield path if values.get(path) is value else "", value
