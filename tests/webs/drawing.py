"""A web for each number: a few pages under many URLs, rules right and wrong, and all that can go wrong meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from scrapy_dust.dust.edits.edit import Edit
from scrapy_dust.dust.edits.guards import Condition
from scrapy_dust.dust.edits.paths import DropSlash
from scrapy_dust.dust.edits.queries import AnyValue, DropParameter, SortParameters
from scrapy_dust.dust.edits.spellings import DropWww, FoldCase
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.dust.tokens import tokenize
from scrapy_dust.rule_book.entries import check_rule
from tests.webs.model import AWAY, LOGIN, ROOT, SITE, Answer, Failure, Link, Manner, Page, Redirect, Web

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
    ParameterRule("sid"),
    ParameterRule("sid", "1"),
    ParameterRule("x"),
    SubstringRule(f"{ROOT}/print/", f"{ROOT}/", start=True),
    SubstringRule(f"http://www.{SITE}/", f"{ROOT}/", start=True),
    SubstringRule("/index.html", "", end=True),
    SubstringRule("/P0", "/p0"),
    Edit((DropSlash(),)),
    Edit((FoldCase(),)),
    Edit((DropWww(),)),
    Edit((SortParameters(),)),
    Edit((AnyValue("sid"),)),
    Edit((DropParameter("sid"),), (Condition("?x", holds=False),)),
    # Wrong wherever both are there.
    SubstringRule("/p1", "/p0"),
    SubstringRule("/p2", "/p1"),
)

WRONG = 2  #: of these

_KINDS = (
    *("page", "redirect", "redirect", "refresh", "login", "away", "404", "503"),
    *("silence", "timeout", "refused", "once", "other", "other"),
)
#: What a web has most of, besides pages.
_THEMES = ("page", "page", "redirect", "login", "404", "other")


def web(number: int) -> Web:
    chance = random.Random(number)
    names = range(chance.randint(2, 5))
    urls = [
        spelling.format(name) for name in names for spelling in chance.sample(SPELLINGS, chance.randint(2, 7))
    ]
    named = {url: _name_of(url) for url in urls}
    # On half of the webs all rules are right.
    wrong = chance.random() < 0.5
    kinds = ["page"] * 8 + [chance.choice(_THEMES)] * 8 + list(_KINDS)
    answers: dict[str, Answer] = {
        url: _answer(chance, chance.choice(kinds), url, named, wrong=wrong) for url in urls
    }
    contents = sorted({answer.content for answer in _pages(answers.values())})
    unfiltered = chance.choice((0.0, 0.0, 0.0, 0.1))
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
    drawn = replace(drawn, manner=_manner(chance))
    # What hardly comes about by itself.
    match number % 10:
        case 8:
            return _walled(chance, drawn)
        case 9:
            return _turning(chance, drawn)
    return drawn


def _walled(chance: random.Random, web: Web) -> Web:
    """Pages of which most URLs lead to a login, and one does not."""
    answers: dict[str, Answer] = {}
    for name in range(10, 10 + chance.randint(3, 6)):
        urls = [f"{ROOT}/p{name}?sid={n}" for n in range(chance.randint(3, 8))]
        answers |= {url: Redirect(LOGIN) if chance.random() < 0.8 else Page(f"{name}") for url in urls}
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
    return tuple(dict.fromkeys((ParameterRule("sid"), *rules)))


def _name_of(url: str) -> str:
    return "".join(c for c in url.rpartition(SITE)[2].partition("?")[0] if c.isdigit())


def _link(chance: random.Random, urls: Sequence[str], unfiltered: float) -> Link:
    return Link(chance.choice(urls), chance.choice((0, 0, 0, -1, 1)), chance.random() < unfiltered)


def _manner(chance: random.Random) -> Manner:
    def once_in(often: int) -> bool:
        return chance.randrange(often) == 0

    return Manner(
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
    )


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
        case "once":
            return Failure(chance.choice((503, "timeout")), 1, own)
        case "other" if wrong:
            # What stands after this URL's ? matters, whatever the rules say.
            return Page(f"{named[url]}:{url}")
        case _:
            return own


def _pages(answers: Iterable[Answer]) -> Iterator[Page]:
    for answer in answers:
        if isinstance(answer, Page):
            yield answer
        elif isinstance(answer, Failure) and answer.then:
            yield answer.then


def _rules(chance: random.Random, urls: Sequence[str], *, wrong: bool) -> Iterator[Rule]:
    of = RULES if wrong else RULES[:-WRONG]
    yield from chance.sample(of, chance.randint(1, len(of)))
    while wrong and chance.random() < 0.4:
        rule = SubstringRule(
            _piece(chance, urls), _piece(chance, urls), start=chance.random() < 0.1, end=chance.random() < 0.3
        )
        with suppress(ValueError):
            check_rule(rule)
            yield rule


def _piece(chance: random.Random, urls: Sequence[str]) -> str:
    tokens = tokenize(chance.choice(urls))
    begin = chance.randint(0, len(tokens))
    return "".join(tokens[begin : begin + chance.randint(0, 3)])
