"""The survey of a site before its rules are tried: how the site answers when it has nothing to show, and what changes
at each fetch.

Pages of the log show its template, and whether it still shows what the log has. URLs that cannot exist show its "not
found" with status 200, and a login or a consent that stands in front of a whole part of it:

- beside pages: another name in the same folder, and at the root of the host;
- beside texts that many URLs of the log share, which are one page under many names, or no page at all;
- in place of parameters' values, for two pages of the log that differ. Only an answer that both get is nothing, and
only if it is not the page that the log has: where a parameter does not matter, each gets its own page.

A page of the log that does not show the very same now is fetched twice: so the site shows what changes at each fetch.
Once it has shown that on a few pages, the log is as good as the second fetch of the others. Where all that changes is
never the same again, more pages are asked for, once each, until that is sure: then the log alone can tell which of
its pages are one.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from itertools import chain, combinations, zip_longest
from urllib.parse import urlsplit

from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.judge.judging import SAME_TIME, Judge
from scrapy_dust.propose.dustbuster.likely_parameters import parameters
from scrapy_dust.visits.strata import template_of

#: Pages of the log that are asked for, and URLs that cannot exist.
_PAGES, _BESIDE, _TEMPLATES = 9, 4, 2
#: Pages of each of the path templates of most URLs.
_PAGES_EACH = 3
#: Pages that are asked for again at a time, and how often more pages are asked for to be sure of what changes.
_AGAIN, _ROUNDS = 3, 2
#: Pages that are asked for then, at most; so many times as many must be left, else comparing them costs less.
_MORE, _WORTH = 20, 2
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
    made_of: str = ""  #: of VALUES: the page of the log whose values were replaced


def survey(urls: Sequence[str], texts: Mapping[str, str], suspects: Sequence[str] = ()) -> Iterator[Wanted]:
    """The URLs to fetch from a site with the pages *urls*, in the order to draw them. *texts*: their digests.

    *suspects*: pages that may change at each fetch.
    """
    shared = _urls_of_shared_texts(urls, texts)
    bases = [*shared, *urls[: _BESIDE - len(shared) // 2]]
    beside = dict.fromkeys(made for url in bases for made in _nonsense_at_host(url))
    yield from (Wanted(url, Kind.BESIDE) for url in list(beside)[:_BESIDE])
    yield from _nonsense_values(urls, texts)
    pages = dict.fromkeys([*shared, *_each_template_first([*suspects, *_different_texts_first(urls, texts)])])
    yield from (Wanted(url, Kind.PAGE, is_shared=url in shared) for url in list(pages)[:_PAGES])


class SiteSurvey:
    """Collects the answers of a survey for the site's judge."""

    def __init__(self, judge: Judge, to_ask: Iterable[Wanted], urls: Iterable[str] = ()) -> None:
        """A survey that asks for *to_ask*, and may ask for more of the site's pages, *urls*."""
        self.to_ask = deque(to_ask)
        self._judge = judge
        self._left = len(self.to_ask)  # not answered
        asked = {wanted.url for wanted in self.to_ask}
        self._urls = [url for url in urls if url not in asked]
        self._rounds = _ROUNDS
        self._changed: list[tuple[Fetched, Known]] = []  # pages that do not show what the log has
        self._log_is_control = False  # the log was as good as a second fetch of some page
        self._nonsense_values: dict[
            str, Fetched
        ] = {}  # template → the first answer to values that cannot exist
        self._pages: list[tuple[Wanted, Fetched, Known | None]] = []
        self._first: dict[str, Fetched] = {}  # the first answers of pages
        self._again: Counter[str] = Counter()  # how often pages were asked for again

    @property
    def over(self) -> bool:
        """Whether all answers have come."""
        return not self._left

    def learn(self, wanted: Wanted, page: Fetched, known: Known | None) -> None:
        """Take *page*, the answer to *wanted*. *known*: what the log has of it, or of the page that it was made of."""
        self._left -= 1
        if wanted.kind is Kind.BESIDE:
            self._judge.learn_nothing(page)
        elif wanted.kind is Kind.VALUES and not self._judge.resembles(page, known):
            first = self._nonsense_values.setdefault(wanted.template, page)
            if first is not page and self._judge.is_like(first, page):
                self._judge.learn_nothing(page)
        elif wanted.kind is Kind.VALUES:
            pass  # where no value matters, it is the page that it was made of
        elif wanted.kind is Kind.AGAIN:
            self._judge.learn_again(self._first[page.url], page)
        elif page.answered:
            self._judge.learn(page, known)
            self._first[page.url] = page
            self._pages.append((wanted, page, known))
            self._compare(page, known)
        if not self._left:
            self._ask_again()
        if not self._left:
            self._ask_for_more()
        if self.over:
            self._conclude()

    def _compare(self, page: Fetched, known: Known | None) -> None:
        """Learn which parts of the page that the log has *page* still shows, or note that the page has changed."""
        if known is None or not known.says_something:
            return
        if self._judge.is_known_page(page, known):
            if abs(page.at - known.at) <= SAME_TIME:
                self._judge.learn_kept(page, known)
        else:
            self._changed.append((page, known))

    def _ask_again(self) -> None:
        """Ask again for some of the pages that have changed, unless the log itself is as good as a second fetch."""
        left = []
        for page, known in self._changed:
            if self._judge.control(page, known):
                self._log_is_control = True
            elif page.url not in self._again:
                left.append(page.url)
        for url in _most_telling_first(left)[:_AGAIN]:
            self._ask_once_more(url)

    def _ask_for_more(self) -> None:
        """Ask for more pages of path templates for which it is not yet sure what changes at each fetch.

        Where something may have stayed by chance, ask again for the same page first.
        """
        if not self._log_is_control:
            return
        open_ones = [
            url for url in self._judge.unsettled() if url in self._first and self._again[url] < _AGAIN
        ]
        volatile = self._judge.knowledge.volatile
        lacking = {
            template: volatile.lacking(template) for template in dict.fromkeys(map(template_of, self._urls))
        }
        alike = [url for url in self._urls if lacking[template_of(url)] is not None]
        most = max((lacking[template_of(url)] or 0 for url in alike), default=0)
        if most > _MORE or len(alike) < _WORTH * most:
            return
        for url in open_ones:
            self._ask_once_more(url)
        if open_ones or not self._rounds:
            return
        self._rounds -= 1
        for url in [url for url in alike if lacking[template_of(url)]][:most]:
            self._urls.remove(url)
            self._ask_for(Wanted(url, Kind.PAGE))

    def _ask_once_more(self, url: str) -> None:
        self._again[url] += 1
        self._ask_for(Wanted(url, Kind.AGAIN))

    def _ask_for(self, wanted: Wanted) -> None:
        self._left += 1
        self.to_ask.append(wanted)

    def _conclude(self) -> None:
        """Tell the judge which answers are no pages, and whether sketches of the log can be compared with those of now."""
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
    word = _made_up_word(f"{parts.netloc}{folder}/{ending}")
    return f"{parts.scheme}://{parts.netloc}{folder}/{word}{ending}"


def nonsense_elsewhere(url: str) -> str:
    """A URL that cannot exist, in a folder that cannot exist, with the extension of *url*."""
    parts = urlsplit(url)
    _, _, name = parts.path.rpartition("/")
    return nonsense_beside(f"{parts.scheme}://{parts.netloc}/{_made_up_word(f'{parts.netloc}/')}/{name}")


def _nonsense_at_host(url: str) -> Iterator[str]:
    """Two URLs that cannot exist: one in the folder of *url*, and one at the root of its host."""
    parts = urlsplit(url)
    yield nonsense_beside(url)
    yield nonsense_beside(f"{parts.scheme}://{parts.netloc}/")


def _urls_of_shared_texts(urls: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """For each text that many of *urls* share, one URL that shows it; most shared texts come first."""
    by_text: dict[str, list[str]] = {}
    for url in urls:
        if url in texts:
            by_text.setdefault(texts[url], []).append(url)
    many = sorted((of_text for of_text in by_text.values() if len(of_text) >= _MANY), key=len, reverse=True)
    return [of_text[0] for of_text in many[:_SHARED]]


def _different_texts_first(urls: Sequence[str], texts: Mapping[str, str]) -> Iterator[str]:
    """*urls*, in an order that begins with URLs whose texts, by *texts*, all differ."""
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


def _each_template_first(urls: Sequence[str]) -> list[str]:
    """*urls*, in an order that begins with some of each of the most frequent path templates."""
    by_template: dict[str, list[str]] = {}
    for url in urls:
        by_template.setdefault(template_of(url), []).append(url)
    largest = sorted(by_template.values(), key=len, reverse=True)
    return [*(url for of_one in largest for url in of_one[:_PAGES_EACH]), *urls]


def _most_telling_first(urls: Sequence[str]) -> list[str]:
    """*urls*, first two of the path that most of them have, of different templates, and one of another path."""
    by_path: dict[str, dict[str, list[str]]] = {}
    for url in urls:
        template = template_of(url)
        by_path.setdefault(template.partition("?")[0], {}).setdefault(template, []).append(url)
    largest = sorted(by_path.values(), key=lambda one: sum(map(len, one.values())), reverse=True)
    in_turn = [
        [url for of_each in zip_longest(*by_template.values()) for url in of_each if url is not None]
        for by_template in largest
    ]
    first = [url for one, most in zip(in_turn, (2, 1), strict=False) for url in one[:most]]
    return list(dict.fromkeys([*first, *chain.from_iterable(in_turn)]))


def _nonsense_values(urls: Sequence[str], texts: Mapping[str, str]) -> Iterator[Wanted]:
    """For the path templates of most URLs: two pages that differ, each with values in its query that cannot exist."""
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
            for url in (first, other):
                yield Wanted(_with_nonsense(url), Kind.VALUES, template, made_of=url)


def _with_nonsense(url: str) -> str:
    """*url* with each value in its query replaced by a text that means nothing, another one for each URL."""
    question = url.find("?")
    for parameter in reversed([p for p in parameters(url) if p.begin > question]):
        value = _made_up_word(f"{url} {parameter.name} {parameter.begin}")
        url = url[: parameter.value_begin] + value + url[parameter.end :]
    return url


_LETTERS = str.maketrans("0123456789", "ghijklmnop")


def _made_up_word(text: str) -> str:
    """A word without meaning, always the same for *text*, without digits, so that no site reads a number in it."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return digest.translate(_LETTERS)
