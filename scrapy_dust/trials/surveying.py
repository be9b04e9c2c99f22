"""What validation asks a site before its rules are tried: how the site answers when it has nothing to show.

Pages of the log show its template, and whether it still shows what the log has. URLs that cannot exist show its "not
found" with status 200, and a login or a consent that stands in front of a whole part of it:

- beside pages: another name in the same folder, and at the root of the host;
- beside texts that many URLs of the log share, which are one page under many names, or no page at all;
- in place of parameters' values, for two pages of the log that differ. Only an answer that both get is nothing:
  where a parameter does not matter, each gets its own page.

A page of the log that does not show the very same now is fetched twice: so the site shows what changes at each fetch.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from itertools import combinations
from urllib.parse import urlsplit

from scrapy_dust.dust.parameters import parameters
from scrapy_dust.dust.strata import template_of
from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.judging import Judge

#: Pages of the log that are asked for, and URLs that cannot exist.
_PAGES, _BESIDE, _TEMPLATES = 9, 4, 2
#: Pages of each of the path templates of most URLs.
_PAGES_EACH = 3
#: A text of so many URLs of the log is asked for, and these many of such texts.
_MANY, _SHARED = 4, 3


class Kind(Enum):
    """The kinds of URLs in a survey."""

    PAGE = 1  #: of the log
    BESIDE = 2  #: cannot exist
    VALUES = 3  #: has values that cannot exist
    AGAIN = 4  #: a page of the log, once more


@dataclass(frozen=True, slots=True)
class Wanted:
    """A URL that a survey asks for."""

    url: str
    kind: Kind
    template: str = ""  #: of VALUES: the two with the same one are compared
    is_shared: bool = False  #: of PAGE: many URLs of the log have its text


def survey(urls: Sequence[str], texts: Mapping[str, str], suspects: Sequence[str] = ()) -> Iterator[Wanted]:
    """The URLs to fetch from a site with the pages *urls*, in the order to draw them. *texts*: their digests.

    *suspects*: pages that may change at each fetch.
    """
    shared = _shared(urls, texts)
    bases = [*shared, *urls[: _BESIDE - len(shared) // 2]]
    beside = dict.fromkeys(made for url in bases for made in _beside_and_root(url))
    yield from (Wanted(url, Kind.BESIDE) for url in list(beside)[:_BESIDE])
    yield from _values(urls, texts)
    pages = dict.fromkeys([*shared, *_of_each_part([*suspects, *_different(urls, texts)])])
    yield from (Wanted(url, Kind.PAGE, is_shared=url in shared) for url in list(pages)[:_PAGES])


class SiteSurvey:
    """Collects the answers of a survey for the site's judge."""

    def __init__(self, judge: Judge, to_ask: Iterable[Wanted]) -> None:
        self.to_ask = deque(to_ask)
        self._judge = judge
        self._left = len(self.to_ask)  # not answered
        self._values: dict[str, Fetched] = {}  # template → the first answer to values that cannot exist
        self._pages: list[tuple[Wanted, Fetched, Known | None]] = []
        self._first: dict[str, Fetched] = {}  # of pages that are asked for again

    @property
    def over(self) -> bool:
        """Whether all answers have come."""
        return not self._left

    def learn(self, wanted: Wanted, page: Fetched, known: Known | None) -> None:
        """Take *page*, the answer to *wanted*. *known*: what the log has of it."""
        self._left -= 1
        if wanted.kind is Kind.BESIDE:
            self._judge.learn_nothing(page)
        elif wanted.kind is Kind.VALUES:
            first = self._values.setdefault(wanted.template, page)
            if first is not page and self._judge.is_like(first, page):
                self._judge.learn_nothing(page)
        elif wanted.kind is Kind.AGAIN:
            self._judge.learn_again(self._first[page.url], page)
        elif page.answered:
            self._judge.learn(page, known)
            self._pages.append((wanted, page, known))
            self._ask_again(wanted, page, known)
        if self.over:
            self._conclude()

    def _ask_again(self, wanted: Wanted, page: Fetched, known: Known | None) -> None:
        if known is not None and not self._judge.is_known_page(page, known) and known.says_something:
            self._first[page.url] = page
            self._left += 1
            self.to_ask.append(Wanted(wanted.url, Kind.AGAIN))

    def _conclude(self) -> None:
        """Draw the conclusions that need all answers."""
        judge, recognized = self._judge, False
        strange = []
        for wanted, page, known in self._pages:
            resembles = judge.resembles(page, known)
            recognized |= resembles is True
            if judge.is_marked(page):
                # Not what the log has; or what the log has under many names, and of which it has no units that would
                # tell a page from a wall: it stands in front of the pages.
                if not resembles or (wanted.is_shared and (known is None or known.shown is None)):
                    judge.learn_nothing(page)
            elif resembles is False:
                strange.append(page)
        # Pages that are all others than in the log, and others than each other: its sketches are not ours.
        different = all(not judge.is_like(page, other) for page, other in combinations(strange, 2))
        judge.trusts_log = recognized or len(strange) < 2 or not different


def nonsense_beside(url: str) -> str:
    """A URL that cannot exist, in the folder of *url* and with its extension; one for each folder."""
    parts = urlsplit(url)
    folder, _, name = parts.path.rpartition("/")
    dot = name.rfind(".")
    ending = name[dot:] if dot > 0 else ""
    word = _word(f"{parts.netloc}{folder}/{ending}")
    return f"{parts.scheme}://{parts.netloc}{folder}/{word}{ending}"


def _beside_and_root(url: str) -> Iterator[str]:
    parts = urlsplit(url)
    yield nonsense_beside(url)
    yield nonsense_beside(f"{parts.scheme}://{parts.netloc}/")


def _shared(urls: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """For each text that many URLs share, one of these URLs; the most shared texts come first."""
    by_text: dict[str, list[str]] = {}
    for url in urls:
        if url in texts:
            by_text.setdefault(texts[url], []).append(url)
    many = sorted((of_text for of_text in by_text.values() if len(of_text) >= _MANY), key=len, reverse=True)
    return [of_text[0] for of_text in many[:_SHARED]]


def _different(urls: Sequence[str], texts: Mapping[str, str]) -> Iterator[str]:
    """The URLs, those first whose texts the log knows to differ."""
    seen: set[str] = set()
    repeated = []
    for url in urls:
        text = texts.get(url, url)
        if text in seen:
            repeated.append(url)
        else:
            yield url
        seen.add(text)
    yield from repeated


def _of_each_part(urls: Sequence[str]) -> list[str]:
    """*urls*, first some of each of the path templates that most of them have."""
    by_template: dict[str, list[str]] = {}
    for url in urls:
        by_template.setdefault(template_of(url), []).append(url)
    largest = sorted(by_template.values(), key=len, reverse=True)
    return [*(url for of_one in largest for url in of_one[:_PAGES_EACH]), *urls]


def _values(urls: Sequence[str], texts: Mapping[str, str]) -> Iterator[Wanted]:
    """For the templates of most URLs: two pages that differ, with values that cannot exist."""
    by_template: dict[str, list[str]] = {}
    for url in urls:
        found = list(parameters(url))
        if found and "?" in url:
            head = url.partition("?")[0]
            by_template.setdefault(f"{head}?{'&'.join(sorted(p.name for p in found))}", []).append(url)
    several = sorted(by_template.items(), key=lambda item: (-len(item[1]), item[0]))
    for template, of_template in several[:_TEMPLATES]:
        first = of_template[0]
        other = next((url for url in of_template if texts.get(url, url) != texts.get(first, first)), None)
        if other is not None:
            yield from (Wanted(_with_nonsense(url), Kind.VALUES, template) for url in (first, other))


def _with_nonsense(url: str) -> str:
    """*url* with every value of its query replaced, each by another for each URL."""
    question = url.find("?")
    for parameter in reversed([p for p in parameters(url) if p.begin > question]):
        value = _word(f"{url} {parameter.name} {parameter.begin}")
        url = url[: parameter.value_begin] + value + url[parameter.end :]
    return url


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def _word(text: str) -> str:
    """*text* without digits: some sites read a number at the beginning of any value."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return digest.translate(_LETTERS)
