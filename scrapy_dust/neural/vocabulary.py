"""Turns URLs into numbers for the network, and its answers back into URLs (paper §2.1).

A token that many URLs have has a function; one that few have is an argument, of which there is no end. A *reading* is
a URL for the network: the ids of its tokens, an argument as the placeholder of its place, ``arg1`` for the first from
the left. What the network says is *symbols*, which become tokens again by the reading: that is how arguments are
copied.

With *copies*, an argument is read as what it looks like (digits, a word, …), and a symbol that is no id of the
vocabulary is a place in the reading: the network points at what it copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from scrapy_dust.neural.url_tokens import join_tokens, split_url
from scrapy_dust.url.value_classes import value_class

PAD, BEGIN, EOS, UNKNOWN = range(4)  #: ids that stand for no token
_SPECIAL = 4
#: So many arguments of a URL have a placeholder; a URL with more is not translated.
_PLACES = 30
_KINDS = ("empty", "digits", "uuid", "date", "hex", "word", "name", "slug", "path", "text")

Symbols = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """A URL as the network reads it: ids, and the texts of its arguments."""

    tokens: tuple[str, ...]
    ids: tuple[int, ...]
    places: tuple[int, ...]  #: of the arguments, among the tokens


@dataclass(frozen=True)
class Vocabulary:
    """The tokens of a site that the network knows."""

    functions: tuple[str, ...]
    whole: bool = False  #: how URLs are split
    copies: bool = False

    @cached_property
    def _token_ids(self) -> dict[str, int]:
        """The id of each function token."""
        return {token: number for number, token in enumerate(self.functions, start=_SPECIAL)}

    @cached_property
    def _kind_ids(self) -> dict[str, int]:
        """The id of each kind of argument, such as digits."""
        return {kind: number for number, kind in enumerate(_KINDS, start=self.first_argument)}

    @property
    def first_argument(self) -> int:
        """The first id that stands for a placeholder, or for a kind of argument."""
        return _SPECIAL + len(self.functions)

    def __len__(self) -> int:
        """The number of all ids. With *copies*, the ids of places in a reading begin here."""
        return self.first_argument + (len(_KINDS) if self.copies else _PLACES)

    def encode(self, url: str) -> Reading | None:
        """*url* as token ids, rare tokens as placeholders; None if it has more rare tokens than placeholders."""
        tokens = split_url(url, whole=self.whole)
        places = tuple(place for place, token in enumerate(tokens) if token not in self._token_ids)
        if not self.copies and len(places) > _PLACES:
            return None
        ids = [self._token_ids.get(token, UNKNOWN) for token in tokens]
        for number, place in enumerate(places):
            offset = (
                number
                if not self.copies
                else self._kind_ids[value_class(tokens[place])] - self.first_argument
            )
            ids[place] = self.first_argument + offset
        return Reading(tokens, tuple(ids), places)

    def reading_of_ids(self, ids: tuple[int, ...]) -> Reading:
        """A `Reading` of a URL of which only the token *ids* are known, without the texts of its arguments."""
        places = tuple(place for place, number in enumerate(ids) if number >= self.first_argument)
        return Reading((), ids, places)

    def symbols(self, reading: Reading, target: str) -> Symbols:
        """The symbols for the URL *target* as an answer to the URL in *reading*; `UNKNOWN` for a token that has no symbol."""
        free: dict[str, list[int]] = {}
        for number, place in enumerate(reading.places):
            free.setdefault(reading.tokens[place], []).append(
                len(self) + place if self.copies else self.first_argument + number
            )
        said = []
        for token in split_url(target, whole=self.whole):
            copies = free.get(token)
            if copies:
                # The second of two equal arguments is the copy of the second, as long as there is one.
                said.append(copies.pop(0) if len(copies) > 1 else copies[0])
            else:
                said.append(self._token_ids.get(token, UNKNOWN))
        return tuple(said)

    def tokens_of(self, reading: Reading, symbols: Iterable[int]) -> tuple[str, ...] | None:
        """The tokens that *symbols* stand for; None where they name an argument that the URL lacks."""
        found = []
        for symbol in symbols:
            token = self.token_of(reading, symbol)
            if token is None:
                return None
            found.append(token)
        return tuple(found)

    def token_of(self, reading: Reading, symbol: int) -> str | None:
        """The token that *symbol* stands for; None if it names an argument that the URL lacks."""
        if _SPECIAL <= symbol < self.first_argument:
            return self.functions[symbol - _SPECIAL]
        if self.copies:
            place = symbol - len(self)
            return reading.tokens[place] if place in reading.places else None
        number = symbol - self.first_argument
        return reading.tokens[reading.places[number]] if 0 <= number < len(reading.places) else None

    def own_symbols(self, reading: Reading) -> Symbols:
        """The symbols by which the network would say the URL of *reading* itself."""
        own = list(reading.ids)
        for place, symbol in zip(reading.places, self.argument_symbols(reading), strict=True):
            own[place] = symbol
        return tuple(own)

    def url_of(self, reading: Reading, symbols: Iterable[int]) -> str | None:
        """The URL that *symbols* mean; None if they name an argument that the URL lacks."""
        tokens = self.tokens_of(reading, symbols)
        return None if tokens is None else join_tokens(tokens, whole=self.whole)

    def argument_symbols(self, reading: Reading) -> range | tuple[int, ...]:
        """The symbols by which the network copies one argument of *reading*."""
        if self.copies:
            return tuple(len(self) + place for place in reading.places)
        return range(self.first_argument, self.first_argument + len(reading.places))


def vocabulary_of(
    urls: Sequence[str], targets: Mapping[str, str], frequency: float, *, whole: bool, copies: bool
) -> Vocabulary:
    """The vocabulary of *urls*: its function tokens are those that a share *frequency* of the URLs has.

    Tokens that as many *targets* have and that their own URLs lack are in it too, such as the name of the one page to which
    many URLs are redirected (the paper's table 3, case 4): such tokens can be learned, and cannot be copied.
    """
    in_urls = _document_frequencies(urls, whole=whole)
    added: Counter[str] = Counter()
    for url, target in targets.items():
        added.update(set(split_url(target, whole=whole)) - set(split_url(url, whole=whole)))
    found = {token for token, count in in_urls.items() if count >= frequency * len(urls)}
    found |= {token for token, count in added.items() if count > 1 and count >= frequency * len(targets)}
    return Vocabulary(tuple(sorted(found, key=lambda token: (-in_urls[token], token))), whole, copies)


def _document_frequencies(urls: Iterable[str], *, whole: bool) -> Counter[str]:
    return Counter(token for url in urls for token in set(split_url(url, whole=whole)))


def document_frequencies(urls: Iterable[str]) -> Counter[str]:
    """The number of *urls* that have each token."""
    return _document_frequencies(urls, whole=False)
