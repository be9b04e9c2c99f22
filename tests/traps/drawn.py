"""Sites that chance has drawn: forms below forms, by path or parameter, few of whose pages have items, in half of them beside a calendar."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.traps.sites import Shown, Site, calendar_by_path, words

#: One page: its form, and a number for each form above and for its own.
_Page = tuple[int, tuple[int, ...]]
_MOST = 1500


@dataclass(frozen=True)
class _Form:
    style: str  #: how a URL is made of that of the page above: a path, a query, a parameter more, or a part of the path more
    above: int  #: form that links to it; its own number: none
    with_items: float  #: share of pages
    text: str
    steps: int  #: pages of its own that a page of the first form links to
    fan: int  #: pages that a page above links to
    linked: float  #: share of the pages above that link to it


@dataclass
class Drawn:
    """A site that *seed* draws."""

    seed: int
    forms: list[_Form] = field(default_factory=list)
    pages: dict[str, Shown] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chance = random.Random(f"site {self.seed}")
        for number in range(chance.randint(3, 6)):
            style = chance.choice(("path", "query", "facet", "below") if number else ("path", "query"))
            above = chance.randrange(number) if number else 0
            share = chance.choice((0, 0, 0, 0.02, 0.05, 0.2, 1))
            text = chance.choice(("same", "same", "own", "number"))
            fan, linked = chance.choice((1, 1, 1, 2, 4)), chance.choice((0.05, 0.2, 1, 1))
            self.forms.append(_Form(style, above, share, text, chance.choice((1, 1, 3)), fan, linked))
        self._first = chance.choice((60, 150, 300))
        self._marks = chance.choice(("", "", "", "sid6", "tracking"))
        self._is_endless = chance.random() < 0.5
        self._make()

    def site(self) -> Site:
        """The site, beside a shop of 60 items."""
        entrances = [self._url((0, (0,))), *(["/cal/2026/11"] if self._is_endless else [])]
        shown = {_plain(url): page for url, page in self.pages.items()}

        def answer(path: str, query: dict[str, str]) -> Shown | None:
            return calendar_by_path(path, query) or shown.get(_plain(path))

        return Site(answer, tuple(entrances), 60, self._marks)

    @property
    def items(self) -> set[str]:
        """The names of all items."""
        return {item for _, _, item in self.pages.values() if item} | Site(items=60).names

    def _url(self, page: _Page) -> str:
        number, key = page
        form = self.forms[number]
        if form.style == "path":
            return f"/s{number}/{'/'.join(map(str, key))}"
        if form.style == "query":
            return f"/q{number}?" + "&".join(f"k{at}={one}" for at, one in enumerate(key))
        above = self._url((form.above, key[:-1]))
        if form.style == "facet":
            return f"{above}{'&' if '?' in above else '?'}z{number}={key[-1]}"
        path, mark, query = above.partition("?")
        return f"{path}/b{number}/{key[-1]}{mark}{query}"

    def _make(self) -> None:
        todo: list[_Page] = [(0, (0,))]
        while todo and len(self.pages) < _MOST:
            page = todo.pop()
            url = self._url(page)
            if url in self.pages:
                continue
            chance, form = random.Random(f"{self.seed} {url}"), self.forms[page[0]]
            linked = list(self._linked(page, chance))
            item = f"thing of {url}" if chance.random() < form.with_items else ""
            own = {"same": "A page", "own": words(url, 12), "number": f"Count {chance.randrange(10**5)}"}
            self.pages[url] = own[form.text], [self._url(one) for one in linked], item
            todo += linked

    def _linked(self, page: _Page, chance: random.Random) -> Iterator[_Page]:
        number, key = page
        if number == 0:
            for step in range(1, self.forms[0].steps + 1):
                if key[0] + step < self._first:
                    yield 0, (key[0] + step,)
        for other, form in enumerate(self.forms[1:], 1):
            if form.above == number and chance.random() < form.linked:
                yield from ((other, (*key, one)) for one in range(form.fan))


def _plain(url: str) -> str:
    """*url* without what links have beside."""
    path, _, query = url.partition("?")
    return "?".join((path, *sorted(one for one in query.split("&") if one[:1] in ("k", "z"))))
