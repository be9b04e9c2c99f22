"""What only looks as if a rule turned it into the other: pairs of linked URLs that show different pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dusty_web.truth import Kind, truth_of
from dusty_web.web import DustyWeb


@dataclass(frozen=True, slots=True)
class Trap:
    name: str
    a: str
    b: str


#: How often, for n from 1, and the two URLs without their scheme; ``{m}`` is n + 1.
_FAMILIES: dict[str, tuple[tuple[int, str, str], ...]] = {
    "one sub-forum for another": (
        (18, "scifi.forum.test/story_{n}", "movies.forum.test/story_{n}"),
        (12, "movies.forum.test/thread?rep={n}", "politics.forum.test/thread?rep={n}"),
    ),
    "stories for threads": ((12, "scifi.forum.test/story_{n}", "scifi.forum.test/thread_{n}"),),
    "pages of a list": ((2, "scifi.forum.test/board?page={n}", "scifi.forum.test/board?page={m}"),),
    "one course for another": (
        (
            12,
            "www.academic.test/courses/044101/lect-{n}.html",
            "www.academic.test/courses/046332/lect-{n}.html",
        ),
    ),
    "equal sizes": (
        (9, "www.academic.test/courses/044101/ex-{n}.html", "www.academic.test/courses/044101/ex-{m}.html"),
    ),
    "one number for another": (
        (17, "scifi.forum.test/story?id={n}", "scifi.forum.test/story?id={m}"),
        (
            11,
            "www.academic.test/courses/044101/lect-{n}.html",
            "www.academic.test/courses/044101/lect-{m}.html",
        ),
        (11, "www.bignews.test/q/{n}", "www.bignews.test/q/{m}"),
        (11, "www.bignews.test/b?b=2&a={n}", "www.bignews.test/b?b=2&a={m}"),
    ),
    "dir for q": ((12, "www.bignews.test/dir/{n}", "www.bignews.test/q/{n}"),),
    "one section for another": (
        (5, "www.smallnews.test/city/week-{n}", "www.smallnews.test/sports/week-{n}"),
        (5, "www.smallnews.test/sports/week-{n}", "www.smallnews.test/opinion/week-{n}"),
    ),
    "a page for none": ((4, "www.smallnews.test/city/week-{n}", "www.smallnews.test/city/removed-{n}"),),
    "pages that never agree": ((5, "www.smallnews.test/live/{n}", "www.smallnews.test/live/{m}"),),
}


def traps(web: DustyWeb) -> tuple[Trap, ...]:
    return (*_of_families(), *_of_homes(web))


def _of_families() -> Iterator[Trap]:
    for name, families in _FAMILIES.items():
        for times, a, b in families:
            for n in range(1, times + 1):
                yield Trap(name, "http://" + a.format(n=n), "http://" + b.format(n=n, m=n + 1))


def _of_homes(web: DustyWeb) -> Iterator[Trap]:
    home = {content.id: content.home for site in web.sites for content in site.contents.values()}
    for house in ("about", "contact", "jobs"):
        yield Trap("money. for www.", home[f"bignews/{house}"], home[f"bignews/money/{house}"])
    for name, url in home.items():
        first, _, page = name.partition("#")
        if page == "2":
            yield Trap("a further page for the first", url, home[first])
        if page == "3":
            yield Trap("the third page for the second", url, home[f"{first}#2"])
        if name.startswith("bignews/sport/") and not name.endswith("/front"):
            yield Trap("a wrong rel=canonical", url, home["bignews/sport/front"])


def merged_traps(web: DustyWeb, key: Callable[[str], str]) -> tuple[Trap, ...]:
    """The traps that *key* falls into."""
    return tuple(trap for trap in traps(web) if key(trap.a) == key(trap.b))


def wrong_merges(web: DustyWeb, key: Callable[[str], str]) -> dict[str, frozenset[str]]:
    """Keys that linked URLs of different pages share, with the ids of those pages; "" stands for soft errors."""
    shared: defaultdict[str, set[str]] = defaultdict(set)
    for url in web.linked():
        truth = truth_of(web, url)
        if truth.content or truth.kind is Kind.SOFT_ERROR:
            shared[key(url)].add(truth.content or "")
    return {form: frozenset(contents) for form, contents in shared.items() if len(contents) > 1}
