"""Shows two URLs side by side: their titles, the facts that the log has about both pages, and their texts where these
are at hand.

A crawl log has hashes of texts and no texts. Texts are shown that validation has just fetched or that a web archive
has; for all other pairs the page says how far the hashes agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from scrapy_dust.crawl_log.remote_logs import RemoteFile
from scrapy_dust.crawl_log.sources import CutShort
from scrapy_dust.crawl_log.warc import words_in
from scrapy_dust.engines.local import Mined
from scrapy_dust.sites import site_of
from scrapy_dust.visits.pages import Page, SiteLog, page_behind

#: Words that are shown of a text, and so many of them before the first that differs.
_WORDS, _BEFORE = 120, 20
#: Words that are shown of two equal texts.
_WORDS_OF_BOTH = 50


@dataclass(frozen=True, slots=True)
class PairShown:
    """Two URLs side by side, of one rule or with one text, and the facts about their pages."""

    urls: tuple[str, str]
    titles: tuple[str, str] = ("", "")  #: where the log has them
    said: tuple[str, ...] = ()  #: by the log, of both pages
    #: where they begin to differ, or the beginning of both; "": nobody has it
    texts: tuple[str, str] = ("", "")


@dataclass(slots=True)
class Pairs:
    """All that is known of the pages of a run. *texts*: the words of pages, by URL."""

    mined: Sequence[Mined]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _logs: dict[str, SiteLog] = field(init=False)
    _pages: dict[str, Page] = field(init=False)

    def __post_init__(self) -> None:
        self._pages = {page.url: page for one in self.mined for page in one.log.pages}
        self._logs = {url: one.log for one in self.mined for url in one.log.redirects}

    def look(self, url: str, other: str) -> PairShown:
        """*url* and *other* side by side, with all that is known of their pages."""
        pages = self._page_of(url), self._page_of(other)
        titles = tuple(page.title or "" if page else "" for page in pages)
        texts = self.texts.get(url, ()), self.texts.get(other, ())
        said = tuple(self._facts(url, other, *pages))
        return PairShown((url, other), (titles[0], titles[1]), said, side_by_side(*texts))

    def _page_of(self, url: str) -> Page | None:
        """The page that the log has for *url*, if need be after its redirects."""
        log = self._logs.get(url)
        return page_behind(url, self._pages, log.redirects if log else {})

    def _facts(self, url: str, other: str, here: Page | None, there: Page | None) -> Iterator[str]:
        """The facts that the log has about the pages of *url* and *other*, *here* and *there*, a sentence each."""
        for place, one, page in (("first", url, here), ("second", other, there)):
            if page is None:
                fetched = "; validation fetched it" if one in self.texts else ""
                yield f"The log has no page at the {place} URL{fetched}."
            elif page.url != one:
                yield f"The {place} URL redirects to {page.url}."
        if here is not None and there is not None and here is not there:
            yield from _agreement(here, there)
            yield from self._compared(here, there)

    def _compared(self, here: Page, there: Page) -> Iterator[str]:
        """The result of comparing the two pages in units, as a sentence."""
        for one in self.mined:
            if one.log.comparing is not None and one.site == site_of(here.url) and here.core and there.core:
                outcome, why = one.log.comparing.compare(here.url, there.url)
                yield f"Compared in full: {outcome}; {why}."
                return


def archived(
    files: Iterable[Path | RemoteFile], pairs: Iterable[tuple[str, str]]
) -> dict[str, Sequence[str]]:
    """The first words of the pages of *pairs*, by URL, as far as web archives among *files* have them."""
    wanted = {url for pair in pairs for url in pair}
    found: dict[str, Sequence[str]] = {}
    for path in files:
        # A text that cannot be read a second time is not shown.
        with suppress(OSError, CutShort):
            found.update(words_in(path, wanted))
    return found


def _agreement(here: Page, there: Page) -> Iterator[str]:
    """The facts by which the log tells how far two pages agree, a sentence each."""
    if here.text_digest and there.text_digest and not here.core:
        equal = here.text_digest == there.text_digest
        yield "Both have the same text." if equal else "Their texts are not equal word for word."
    if here.volatile or there.volatile:
        yield "One of them changed its text while it was crawled."
    if here.sketch and there.sketch:
        agreeing = sum(a == b for a, b in zip(here.sketch, there.sketch, strict=False))
        yield f"{agreeing} of {min(len(here.sketch), len(there.sketch))} hashes of their texts agree."
    if here.size and there.size:
        same = here.size == there.size
        yield (
            f"Both have {_size_range(here.size)} bytes."
            if same
            else f"{_size_range(here.size)} and {_size_range(there.size)} bytes."
        )
    if not (here.text_digest and there.text_digest) and not (here.sketch and there.sketch):
        yield "The log says nothing of their texts."


def _size_range(size: tuple[int, int]) -> str:
    """A size in bytes in words; a range if the page had several."""
    return f"{size[0]:,}" if size[0] == size[1] else f"{size[0]:,}–{size[1]:,}"


def side_by_side(words: Sequence[str], other: Sequence[str]) -> tuple[str, str]:
    """The words of two texts from a little before the first difference; the beginnings of equal texts, or of one alone."""
    if not words or not other or list(words) == list(other):
        return _cut(words, 0, _WORDS_OF_BOTH), _cut(other, 0, _WORDS_OF_BOTH)
    shorter = min(len(words), len(other))
    same = next((place for place in range(shorter) if words[place] != other[place]), shorter)
    begin = max(0, same - _BEFORE)
    return _cut(words, begin, _WORDS), _cut(other, begin, _WORDS)


def _cut(words: Sequence[str], begin: int, count: int) -> str:
    """The *count* words from *begin* on as text, with dots where words are left out."""
    before, after = "… " * (begin > 0), " …" * (begin + count < len(words))
    return before + " ".join(words[begin : begin + count]) + after if words else ""
