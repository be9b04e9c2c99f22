"""Measures what is new on a page beside the pages of its family that were read before.

Two measures. The first is a *value*: how much the page brings, which decides its form's turn. Words that only repeat
the page's own URL, numbers, and known words in another order are worth little. The second is whether there is
*anything* new at all: numbers of the page's own do not count, and known numbers in another order do; as long as there
is, no form is given up.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from scrapy_dust.traps.own import Own
from scrapy_dust.traps.said import Said

#: What a page brings at most, and what one medium, one word, one number, and one run of words are worth.
MOST = 8.0
_MEDIUM, _WORD, _NUMBER, _RUN = MOST, 2.0, 0.25, 0.25

#: Hashes that are remembered of one family, and of all families.
_OF_A_FAMILY, _OF_ALL = 50_000, 1_000_000

#: Pages of a family that must be read before words common to all of its pages are known.
_COLD = 3

_OWN, _DIGITS = b"#", b"0"
#: Letters and digits in turn, or some hexadecimal digits: an id or a token, which is no word.
_TOKEN = re.compile(rb"[a-z]+[0-9]+[a-z]|[0-9]+[a-z]+[0-9]|(?=[a-f]*[0-9])[0-9a-f]*[a-f][0-9a-f]*\Z(?<=.{6})")


class New(NamedTuple):
    """The news on a page: words, links and items that no page before had."""

    value: float
    anything: bool  #: whether it shows anything that was not shown before
    has_media: bool = False  #: whether a picture or a file is new


#: The news of a page that cannot be read.
UNKNOWN = New(MOST, anything=True, has_media=True)


class Known:
    """The memory of what the pages of one crawl have shown, by family. Anything that is forgotten for want of room is new when
    it comes again.
    """

    def __init__(self) -> None:
        self._families: OrderedDict[str, set[int]] = OrderedDict()
        self._read: Counter[str] = Counter()  #: pages, by family
        self._count = 0

    def new(self, family: str, url: str, said: Said) -> New:
        """The words, links and items in *said*, the text of the page at *url*, that no page of *family* had before.
        They are known from now on.
        """
        known = self._known_to(family)
        self._read[family] += 1
        own, before = Own(url), len(known)
        media = _fresh(known, (b"\0" + medium for medium in said.media))
        plain = {word: _plain(word, own) for word in set(said.words)}
        fresh = [word for word in plain if _is_new(known, word) and not _is_linked(word, said)]
        words = [word for word in fresh if _is_word(word)]
        numbers = [word for word in fresh if word.isdigit() and not own.has_number(word)]
        strangers = sum(1 for word in words if plain[word] is word)
        runs = _fresh_hashes(known, _runs(said.words, plain))
        figures = _fresh_figures(known, said, own)
        self._make_room(family, known, len(known) - before)
        value = _MEDIUM * media + _WORD * strangers + _NUMBER * len(numbers) + _RUN * runs
        return New(min(MOST, value), bool(media or words or numbers or runs or figures), media > 0)

    def is_cold(self, family: str) -> bool:
        """Whether so few pages of *family* were read that every page still looks new."""
        return self._read[family] <= _COLD

    def _known_to(self, family: str) -> set[int]:
        """The hashes of all words, links and items that pages of *family* have shown."""
        known = self._families.setdefault(family, set())
        self._families.move_to_end(family)
        return known

    def _make_room(self, family: str, known: set[int], more: int) -> None:
        """Count *more* hashes of *family*, and forget families if there are too many hashes."""
        self._count += more
        if len(known) > _OF_A_FAMILY:
            self._count -= len(known)
            self._families[family] = set()
        while self._count > _OF_ALL and len(self._families) > 1:
            which, forgotten = self._families.popitem(last=False)
            del self._read[which]
            self._count -= len(forgotten)


def _fresh(known: set[int], what: Iterable[bytes]) -> int:
    """How many of *what* are not in *known*. They are added to *known*."""
    return _fresh_hashes(known, map(hash, what))


def _fresh_hashes(known: set[int], hashes: Iterable[int]) -> int:
    """How many of *hashes* are not in *known*. They are added to *known*."""
    before = len(known)
    known.update(hashes)
    return len(known) - before


def _is_new(known: set[int], word: bytes) -> bool:
    """Whether *word* is not in *known*. The word is added to *known*."""
    return bool(_fresh_hashes(known, (hash(word),)))


def _is_linked(word: bytes, said: Said) -> bool:
    """Whether *word* has a number or an id that stands in the URL of a link."""
    return word in said.linked and not word.isalpha()


def is_said(word: bytes) -> bool:
    """Whether *word* is a word that a person would read, and neither an id nor a token."""
    return not _TOKEN.match(word)


def _is_word(word: bytes) -> bool:
    return not word.isdigit() and not _TOKEN.match(word)


def _plain(word: bytes, own: Own) -> bytes:
    """*word*, or one sign for all numbers and ids, or for words of the page's own URL."""
    if word.isdigit() or _TOKEN.match(word):
        return _DIGITS
    return _OWN if word in own.words else word


def _runs(words: list[bytes], plain: Mapping[bytes, bytes]) -> set[int]:
    """All runs of three words, with one sign for numbers and for words of the page's own URL."""
    said = [plain[word] for word in words]
    return {hash(run) for run in zip(said, said[1:], said[2:], strict=False)}


def _fresh_figures(known: set[int], said: Said, own: Own) -> int:
    """The number of runs of three numbers that are new. Words between them, and numbers of the page's own URL, do not count."""
    figures = [word for word in said.words if word.isdigit()]
    nothing = {word for word in figures if word in said.linked or own.has_number(word)}
    runs = zip(figures, figures[1:], figures[2:], strict=False) if len(figures) > 2 else [tuple(figures)]
    fresh = {run: hash(run) for run in runs if hash(run) not in known}
    known.update(fresh.values())
    return sum(nothing.isdisjoint(run) for run in fresh)
