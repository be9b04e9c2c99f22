"""Webs drawn at random: URLs and what each answers, and which contents a crawl with rules has to find in one."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.rules import ParameterRule, Rule, SubstringRule
from scrapy_dust.sites import site_of

SITE = "webs.test"
ROOT = f"http://{SITE}"
LOGIN = f"{ROOT}/login"
#: Who follows more redirects than these is in a circle.
_HOPS = 20


@dataclass(frozen=True)
class Page:
    content: str


@dataclass(frozen=True)
class Redirect:
    to: str
    refresh: bool = False  #: by the page, not by the status


@dataclass(frozen=True)
class Failure:
    status: int  #: 0: no answer at all
    times: int | None = None  #: so often, and then the page that stands here; None: always
    then: Page | None = None


Answer = Page | Redirect | Failure


@dataclass(frozen=True)
class Web:
    answers: Mapping[str, Answer]
    links: Mapping[str, tuple[str, ...]]  #: content → URLs, in the order of the page
    start: tuple[str, ...]
    rules: tuple[Rule, ...]
    delays: Mapping[str, int]  #: in turns of the event loop
    concurrency: int
    retries: bool

    def end_of(self, url: str) -> str | None:
        """The content that is behind *url*, after its redirects; None: there is none."""
        for _ in range(_HOPS):
            answer = self.answers.get(url)
            if isinstance(answer, Redirect):
                url = answer.to
            elif isinstance(answer, Failure):
                return answer.then.content if answer.then and self.retries else None
            else:
                return answer.content if answer else None
        return None

    def classes(self) -> dict[str, set[str]]:
        """The contents behind the URLs of each class. The login is nobody's content."""
        canonizer = Canonizer({SITE: self.rules}, site_of, 10)
        found: dict[str, set[str]] = {}
        for url in self.answers:
            end = self.end_of(url)
            if end is not None and LOGIN not in (url, end):
                found.setdefault(canonizer.canonize(url), set()).add(end)
        return found

    def required(self, but: Container[str] = ()) -> set[str]:
        """What is found without a step over *but*, or a class in which the rules merge different contents."""
        merged = {
            content for contents in self.classes().values() if len(contents) > 1 for content in contents
        }
        found: set[str] = set()
        urls = list(self.start)
        while urls:
            end = self.end_of(urls.pop())
            if end is not None and end not in found and end not in merged and end not in but:
                found.add(end)
                urls += self.links.get(end, ())
        return found - {LOGIN}

    def behind_the_login(self) -> set[str]:
        """Contents of the classes of which a URL redirects to the login."""
        classes, canonizer = self.classes(), Canonizer({SITE: self.rules}, site_of, 10)
        keys = {canonizer.canonize(url) for url in self.answers if self.end_of(url) == LOGIN}
        return {content for key in keys for content in classes.get(key, ())}


SPELLINGS = (
    "/p{}",
    "/p{}?sid=1",
    "/p{}?sid=2",
    "/p{}?sid=3&x=1",
    "/print/p{}",
    "/print/p{}?sid=1",
    "/p{}/index.html",
    "/P{}",
)

RULES: tuple[Rule, ...] = (
    ParameterRule("sid"),
    ParameterRule("sid", "1"),
    ParameterRule("x"),
    SubstringRule(f"{ROOT}/print/", f"{ROOT}/", start=True),
    SubstringRule("/index.html", "", end=True),
    SubstringRule("/P0", "/p0"),
    # Wrong wherever both are there.
    SubstringRule("/p1", "/p0"),
)

_KINDS = (
    "page",
    "page",
    "page",
    "page",
    "redirect",
    "refresh",
    "login",
    "404",
    "503",
    "silence",
    "once",
    "other",
)


@st.composite
def webs(draw: st.DrawFn, *, wrong_rules: bool = True) -> Web:
    names = draw(st.integers(1, 4))
    urls = [
        ROOT + spelling.format(name) for name in range(names) for spelling in _some(draw, SPELLINGS, 2, 6)
    ]
    named = {url: _name_of(url) for url in urls}
    answers: dict[str, Answer] = {LOGIN: Page(LOGIN)}
    for url in urls:
        answers[url] = _answer(draw, url, named, wrong=wrong_rules)
    contents = sorted({answer.content for answer in _pages(answers.values())})
    links = {
        content: tuple(draw(st.lists(st.sampled_from(urls), min_size=2, max_size=8))) for content in contents
    }
    return Web(
        answers,
        links,
        start=tuple(draw(st.lists(st.sampled_from(urls), min_size=1, max_size=6))),
        rules=tuple(_some(draw, RULES if wrong_rules else RULES[:-1], 1, len(RULES))),
        delays={url: draw(st.integers(0, 6)) for url in urls},
        concurrency=draw(st.sampled_from([1, 2, 4, 16])),
        retries=draw(st.booleans()),
    )


def _some(draw: st.DrawFn, of: Sequence[Any], least: int, most: int) -> list[Any]:
    return draw(st.lists(st.sampled_from(of), min_size=least, max_size=most, unique=True))


def _name_of(url: str) -> str:
    return "".join(c for c in url.removeprefix(ROOT).partition("?")[0] if c.isdigit())


def _answer(draw: st.DrawFn, url: str, named: Mapping[str, str], *, wrong: bool) -> Answer:
    own = Page(named[url])
    siblings = [other for other in named if named[other] == named[url]]
    match draw(st.sampled_from(_KINDS)):
        case "redirect" | "refresh" as kind:
            # Mostly within the class, where redirects are most easily lost.
            where = draw(st.sampled_from([*siblings, *siblings, *siblings, *(named if wrong else siblings)]))
            return Redirect(where, refresh=kind == "refresh")
        case "login":
            return Redirect(LOGIN)
        case "404" | "503" as status:
            return Failure(int(status))
        case "silence":
            return Failure(0)
        case "once":
            return Failure(503, 1, own)
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
