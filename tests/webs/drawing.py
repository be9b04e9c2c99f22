"""A web and its spider for each number: a few pages under many URLs, rules right and wrong, and all that can go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from w3lib.url import canonicalize_url

from scrapy_dust.rules.guards import Condition
from scrapy_dust.rules.json_rules import check_rule
from scrapy_dust.rules.parameters import AnyValue, DropParameter, SetParameter
from scrapy_dust.rules.paths import DropSlash
from scrapy_dust.rules.queries import SortParameters
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.spellings import DropWww, FoldCase
from scrapy_dust.rules.substitution import Substitute
from scrapy_dust.url.tokens import tokenize
from tests.webs.model import (
    AWAY,
    LOGIN,
    ROOT,
    SITE,
    STRANGER,
    Answer,
    Failure,
    Handling,
    Link,
    Manner,
    Page,
    Redirect,
    Soft,
    Web,
)

SPELLINGS = (
    f"{ROOT}/p{{}}",
    f"{ROOT}/p{{}}/",
    f"{ROOT}/p{{}}?sid=1",
    f"{ROOT}/p{{}}?sid=2",
    f"{ROOT}/p{{}}?sid=3&x=1",
    f"{ROOT}/p{{}}?x=1&sid=3",
    f"{ROOT}/print/p{{}}",
    f"{ROOT}/print/p{{}}?sid=1",
    f"{ROOT}/p{{}}/index.html",
    f"{ROOT}/P{{}}",
    f"http://www.{SITE}/p{{}}",
)

RULES: tuple[Rule, ...] = (
    Rule.of(DropParameter("sid")),
    Rule.of(SetParameter("sid", "1")),
    Rule.of(DropParameter("x")),
    Rule.of(Substitute(f"{ROOT}/print/", f"{ROOT}/", start=True)),
    Rule.of(Substitute(f"http://www.{SITE}/", f"{ROOT}/", start=True)),
    Rule.of(Substitute("/index.html", "", end=True)),
    Rule.of(Substitute("/P0", "/p0")),
    Rule((DropSlash(),)),
    Rule((FoldCase(),)),
    Rule((DropWww(),)),
    Rule((SortParameters(),)),
    Rule((AnyValue("sid"),)),
    Rule((DropParameter("sid"),), (Condition("?x", holds=False),)),
    # Wrong wherever both are there.
    Rule.of(Substitute("/p1", "/p0")),
    Rule.of(Substitute("/p2", "/p1")),
)

WRONG = 2  #: of these

_KINDS = (
    *("page", "redirect", "redirect", "refresh", "login", "away", "404", "503"),
    *("silence", "timeout", "refused", "once", "other", "other", "soft", "soft", "wall", "wait"),
)
#: What a web has most of, besides pages.
_THEMES = ("page", "page", "redirect", "login", "404", "other", "soft", "wall", "wait")
_SOFT = (202, 204, 206, "empty", "partial")


def web(number: int) -> Web:
    chance = random.Random(number)
    names = range(chance.randint(2, 5))
    urls = [
        spelling.format(name) for name in names for spelling in chance.sample(SPELLINGS, chance.randint(2, 7))
    ]
    named = {url: _name_of(url) for url in urls}
    # On half of the webs all rules are right.
    wrong = chance.random() < 0.5
    manner = _manner(chance, wrong=wrong)
    kinds = ["page"] * 8 + [chance.choice(_THEMES)] * 8 + list(_KINDS)
    left_out = (_LEADING if manner.depth_limit else ()) + (("wait",) if manner.cache else ())
    kinds = [kind for kind in kinds if kind not in left_out] or ["page"]
    answers: dict[str, Answer] = {
        url: _answer(chance, chance.choice(kinds), url, named, wrong=wrong) for url in urls
    }
    # To Scrapy some spellings are one request, so which of them is asked for is an accident.
    answers = {url: answers[next(other for other in urls if _is_one(url, other))] for url in answers}
    contents = sorted({answer.content for answer in _pages(answers.values())})
    unfiltered = 0.0 if manner.depth_limit else chance.choice((0.0, 0.0, 0.0, 0.1))
    links = {
        content: tuple(_link(chance, urls, unfiltered) for _ in range(chance.randint(2, 9)))
        for content in contents
    }
    drawn = Web(
        answers | {LOGIN: Page(LOGIN), AWAY: Page(AWAY)},
        links,
        tuple(chance.choices(urls, k=chance.randint(1, 6))),
        tuple(dict.fromkeys(_rules(chance, urls, wrong=wrong))),
        {url: chance.randint(0, 6) for url in urls},
    )
    drawn = replace(drawn, manner=manner)
    # What hardly comes about by itself.
    match number % 10:
        case 5:
            drawn = _hidden(chance, drawn, lambda: Soft(chance.choice(_SOFT)))
        case 6:
            drawn = _estranged(chance, drawn)
        case 7 if manner.depth_limit:
            drawn = _deepened(chance, drawn)
        case 8 if not manner.depth_limit:
            drawn = _hidden(chance, drawn, lambda: Redirect(LOGIN))
        case 9 if manner.rounds == 1:
            drawn = _turning(chance, drawn)
    return replace(drawn, handled=_handled(chance, drawn))


#: Answers that lead elsewhere.
_LEADING = ("redirect", "refresh", "login", "away")


def _handled(chance: random.Random, web: Web) -> Mapping[str, Handling]:
    """What the spider does with each URL: with those that lead to one place, the same."""
    callbacks = chance.choice(
        (["whole"], ["whole", "part"], ["whole", "leaf"], ["whole", "whole", "part", "leaf"])
    )
    categories = ["", "hats"] if web.manner.named else [""]
    raises = chance.choice(([""], [""], ["", "", "", "first"], ["", "", "", "later"]))
    dropped = chance.choice((0, 0, 0, 0.2))
    by_end: dict[str, Handling] = {}
    for url in web.answers:
        handling = Handling(
            chance.choice(callbacks),
            chance.choice(categories),
            chance.choice(raises),
            chance.random() < dropped,
        )
        by_end.setdefault(canonicalize_url(_end(web.answers, url)), handling)
    return {url: by_end[canonicalize_url(_end(web.answers, url))] for url in web.answers}


def _is_one(url: str, other: str) -> bool:
    return canonicalize_url(url) == canonicalize_url(other)


def _end(answers: Mapping[str, Answer], url: str) -> str:
    """The URL that *url* leads to; of a circle, one that stands for it."""
    way = [url]
    while isinstance(answer := answers.get(way[-1]), Redirect):
        if answer.to in way:
            return min(way[way.index(answer.to) :], key=canonicalize_url)
        way.append(answer.to)
    return way[-1]


def _estranged(chance: random.Random, web: Web) -> Web:
    """Another site links aliases that it has made up, and that show nothing."""
    names = sorted({_name_of(url) for url in web.answers} - {""})
    made_up = [f"{ROOT}/p{name}?sid=made{n}" for name in names for n in range(chance.randint(1, 2))]
    links = tuple(Link(url, priority=1) for url in made_up)
    return replace(
        web,
        answers={**web.answers, STRANGER: Page("stranger"), **{url: Soft("unlike") for url in made_up}},
        links={**web.links, "stranger": links},
        start=(STRANGER, *web.start),
        rules=_with_sid(web.rules),
    )


def _deepened(chance: random.Random, web: Web) -> Web:
    """Two ways of pages link the same pages at different depths, which link one page each."""
    depth = web.manner.depth_limit
    ways = [[str(n) for n in range(first, first + depth + 1)] for first in (20, 30)]
    links: dict[str, list[str]] = {name: [] for way in ways for name in way}
    for way in ways:
        for name, after in pairwise(way):
            links[name].append(f"{ROOT}/p{after}")
    ends = [str(40 + n) for n in range(chance.randint(2, 5))]
    for name in ends:
        for number, way in enumerate(ways):
            links[chance.choice(way[:depth])].append(f"{ROOT}/p{name}?sid={number}")
        links[name] = [f"{ROOT}/p{name}0"]
    # One of the ways is the faster one.
    slow = chance.choice(ways)
    urls = {url for some in links.values() for url in some} | {f"{ROOT}/p{way[0]}" for way in ways}
    return replace(
        web,
        answers={**web.answers, **{url: Page(_name_of(url)) for url in sorted(urls)}},
        links={**web.links, **{name: tuple(map(Link, some)) for name, some in links.items()}},
        start=(*web.start, *(f"{ROOT}/p{way[0]}" for way in ways)),
        rules=_with_sid(web.rules),
        delays={**web.delays, **{f"{ROOT}/p{name}": 30 for name in slow}},
    )


def _hidden(chance: random.Random, web: Web, other: Callable[[], Answer]) -> Web:
    """Pages of which most URLs answer with *other*, and one does not."""
    answers: dict[str, Answer] = {}
    for name in range(10, 10 + chance.randint(3, 6)):
        urls = [f"{ROOT}/p{name}?sid={n}" for n in range(chance.randint(3, 8))]
        answers |= {url: other() if chance.random() < 0.8 else Page(f"{name}") for url in urls}
        answers[chance.choice(urls)] = Page(f"{name}")
    return replace(
        web,
        answers={**web.answers, **answers},
        start=(*web.start, *chance.sample(sorted(answers), len(answers))),
        rules=_with_sid(web.rules),
    )


def _turning(chance: random.Random, web: Web) -> Web:
    """One page under many URLs, of which half turn into pages of their own while the crawl goes on."""
    urls = [f"{ROOT}/p9?sid={n}" for n in range(chance.randint(15, 40))]
    turns = chance.randint(0, len(urls))
    pages = {url: Page(f"9:{url}", turns) if chance.random() < 0.5 else Page("9") for url in urls}
    return replace(
        web,
        answers={**web.answers, **pages},
        start=(*web.start, *urls),
        delays={**web.delays, **{url: chance.randint(0, 6) for url in urls}},
        rules=_with_sid(web.rules),
        # A page that still looks like another is a copy of it.
        manner=replace(web.manner, canary_rate=chance.choice((0.3, 0.3, 0.6)), content_dedup="off"),
    )


def _with_sid(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(dict.fromkeys((Rule.of(DropParameter("sid")), *rules)))


def _name_of(url: str) -> str:
    return "".join(c for c in url.rpartition(SITE)[2].partition("?")[0] if c.isdigit())


def _link(chance: random.Random, urls: Sequence[str], unfiltered: float) -> Link:
    return Link(chance.choice(urls), chance.choice((0, 0, 0, -1, 1)), chance.random() < unfiltered)


def _manner(chance: random.Random, *, wrong: bool) -> Manner:
    def once_in(often: int) -> bool:
        return chance.randrange(often) == 0

    manner = Manner(
        concurrency=chance.choice((1, 2, 4, 16)),
        retries=not once_in(3),
        breadth_first=once_in(3),
        start_unfiltered=once_in(3),
        disallowed=tuple(chance.sample(("/print/", "/P", "/p0/", "/p1"), chance.randint(1, 2)))
        if once_in(4)
        else (),
        canary_rate=chance.choice((0, 0, 0, 0.3, 1, 1)),
        rewrite=once_in(4),
        stale=once_in(8),
        mode="shadow" if once_in(12) else "enforce",
        content_dedup="drop" if once_in(8) else "off",
        cache=once_in(12),
        pauses=tuple(chance.sample(range(1, 5), chance.randint(1, 2))) if once_in(5) else (),
        by_rules=once_in(4),
        named=chance.choice(("cb_kwargs", "meta:category")) if once_in(5) else "",
        languages=("de", "fr") if once_in(8) else ("",),
        depth_limit=chance.choice((1, 2, 3)) if once_in(4) else 0,
    )
    if manner.pauses and once_in(3):
        return replace(manner, damage=chance.choice(("emptied", "torn", "noise")))
    if not (manner.pauses or manner.cache) and once_in(8):
        return replace(manner, is_disk_full=True)
    if once_in(12):
        return replace(manner, inner="base")
    if not (wrong or manner.pauses or manner.depth_limit) and once_in(4):
        return replace(manner, inner="window", rounds=2, canary_rate=0)
    return manner


def _answer(chance: random.Random, kind: str, url: str, named: Mapping[str, str], *, wrong: bool) -> Answer:
    own = Page(named[url])
    siblings = [other for other in named if named[other] == named[url]]
    match kind:
        case "redirect" | "refresh":
            # Mostly within the class, where redirects are most easily lost.
            where = chance.choice([*siblings, *siblings, *siblings, *(named if wrong else siblings)])
            return Redirect(where, refresh=kind == "refresh")
        case "login":
            return Redirect(LOGIN)
        case "away":
            return Redirect(AWAY)
        case "404" | "503":
            return Failure(int(kind))
        case "silence" | "timeout" | "refused":
            return Failure(kind)
        case "soft" | "wall" | "wait":
            return _soft(chance, kind, own)
        case "once":
            return Failure(chance.choice((503, "timeout")), 1, own)
        case "other" if wrong:
            # What stands after this URL's ? matters, whatever the rules say.
            return Page(f"{named[url]}:{url}")
        case _:
            return own


def _soft(chance: random.Random, kind: str, own: Page) -> Soft:
    match kind:
        case "wait":
            return Soft("wait", chance.randint(1, 2), own)
        case "wall":
            return Soft("wall")
        case _:
            return Soft(chance.choice(_SOFT))


def _pages(answers: Iterable[Answer]) -> Iterator[Page]:
    for answer in answers:
        if isinstance(answer, Page):
            yield answer
        elif isinstance(answer, Failure | Soft) and answer.then:
            yield answer.then


def _rules(chance: random.Random, urls: Sequence[str], *, wrong: bool) -> Iterator[Rule]:
    of = RULES if wrong else RULES[:-WRONG]
    yield from chance.sample(of, chance.randint(1, len(of)))
    while wrong and chance.random() < 0.4:
        rule = Rule.of(
            Substitute(
                _piece(chance, urls),
                _piece(chance, urls),
                start=chance.random() < 0.1,
                end=chance.random() < 0.3,
            )
        )
        with suppress(ValueError):
            check_rule(rule)
            yield rule


def _piece(chance: random.Random, urls: Sequence[str]) -> str:
    tokens = tokenize(chance.choice(urls))
    begin = chance.randint(0, len(tokens))
    return "".join(tokens[begin : begin + chance.randint(0, 3)])
