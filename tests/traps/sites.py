"""Sites with a trap of each family beside a shop of real items, and harmless chains. A page is a function of its URL."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from urllib.parse import parse_qsl, quote, urlsplit

HOST = "http://s.test"

#: What a page shows: its text, links, and the name of its item, if it has one.
Shown = tuple[str, list[str], str]

MONTHS = {
    "en": "january february march april may june july august september october november december".split(),
    "de": "januar februar maerz april mai juni juli august september oktober november dezember".split(),
    "fr": "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre".split(),
}
_SESSION = re.compile(r"/\(S\(\w+\)\)")
_WEEK = "Mo Tu We Th Fr Sa Su " + " ".join(map(str, range(1, 29)))


def words(seed: object, count: int, vocabulary: int = 3000) -> str:
    chance = random.Random(str(seed))
    return " ".join(_word(chance.randrange(vocabulary)) for _ in range(count))


def _word(number: int) -> str:
    chance = random.Random(number)
    return "".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(2 + number % 3))


@dataclass
class Site:
    """A shop of *items* in lists of twenty, and what *trap* has."""

    trap: Callable[[str, dict[str, str]], Shown | None] = lambda path, query: None
    entrance: tuple[str, ...] = ()
    items: int = 600
    marks: str = ""  #: what links have beside: `sid6`, `sid32`, `tracking`, or the id of a session `in path`
    asked: list[str] = field(default_factory=list)

    def answer(self, url: str) -> str | None:
        """The page at *url* as HTML; None: there is none."""
        self.asked.append(url)
        url = _SESSION.sub("", url)
        parts = urlsplit(url)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        shown = self.trap(url[len(HOST) :], query) or self._shop(parts.path, query)
        if shown is None:
            return None
        text, links, item = shown
        chance = random.Random(self.asked[-1])
        anchors = "".join(
            f'<li><a href="{self._marked(link, chance)}">{link.rpartition("/")[2]}</a>'
            for link in ("/", "/about", "/list", *self.entrance, *links)
        )
        head = f"<title>{' '.join(text.split()[:2])}</title>"
        body = f'<h1 class="item">{item}</h1>' if item else ""
        return f"<html><head>{head}</head><body><nav>Shop of things</nav>{body}<p>{text}</p><ul>{anchors}</ul></body></html>"

    def _marked(self, link: str, chance: random.Random) -> str:
        if not self.marks or chance.random() < 0.5:
            return link
        if self.marks == "in path":
            return f"/(S({chance.getrandbits(96):024x})){link}"
        said = {
            "sid6": f"sid={chance.getrandbits(24):06x}",
            "sid32": f"PHPSESSID={chance.getrandbits(128):032x}",
            "tracking": f"utm_source={chance.choice(('mail', 'web', 'feed'))}&utm_medium={chance.choice('ab')}",
        }[self.marks]
        return f"{link}{'&' if '?' in link else '?'}{said}"

    def _shop(self, path: str, query: dict[str, str]) -> Shown | None:
        if path in ("/", "/about"):
            return f"Welcome {path} {words(path, 20)}", [], ""
        pages = self.items // 20
        if path == "/list":
            page = int(query.get("page", 1))
            following = [f"/list?page={page + 1}"] if page < pages else []
            return (
                f"Things, page {page}",
                [*following, *(f"/item/{n}" for n in range(page * 20 - 20, page * 20))],
                "",
            )
        if path.startswith("/item/"):
            name = path.removeprefix("/item/")
            return f"{words(path, 30)} {int(name) * 37 % 1000} EUR", ["/list"], f"thing {name}"
        return None

    @cached_property
    def names(self) -> set[str]:
        """Of all items."""
        return {f"thing {n}" for n in range(self.items)}


def calendar_by_path(path: str, query: dict[str, str]) -> Shown | None:
    if not path.startswith("/cal/"):
        return None
    year, month, *day = map(int, path.partition("?")[0].split("/")[2:])
    name = MONTHS["en"][month - 1]
    if day:
        links = [f"/cal/{year}/{month}", f"/cal/{year}/{month}/{day[0] % 28 + 1}"]
        return f"No events on {day[0]} {name} {year}", links, ""
    months = [_month(year, month, step) for step in (-1, 1, 12)]
    days = [f"/cal/{year}/{month}/{day}" for day in (1, 10, 20)]
    return f"{name} {year} {_WEEK}", [*(f"/cal/{y}/{m}" for y, m in months), *days], ""


def _month(year: int, month: int, step: int) -> tuple[int, int]:
    number = max(0, year * 12 + month - 1 + step)
    return number // 12, number % 12 + 1


def calendar_by_query(path: str, query: dict[str, str]) -> Shown | None:
    if not path.startswith("/calendar.php"):
        return None
    year, month = int(query.get("year", 2026)), int(query.get("month", 1))
    views = [f"/calendar.php?year={year}&month={month}&view={view}" for view in ("week", "list")]
    months = [f"/calendar.php?year={y}&month={m}" for y, m in (_month(year, month, step) for step in (-1, 1))]
    return f"{MONTHS['en'][month - 1]} {year} {query.get('view', 'month')} {_WEEK}", [*months, *views], ""


def calendar_by_words(language: str, style: str = "/kalender/{word}-{year}") -> Callable[..., Shown | None]:
    begin = style[: style.index("{")]

    def calendar(path: str, query: dict[str, str]) -> Shown | None:
        if not path.startswith(begin):
            return None
        said = path.partition("?")[0].removeprefix(begin).replace("-", "/").split("/")
        word, year = sorted(said, reverse=True) if said[0].isdigit() else said
        month = MONTHS[language].index(word) + 1
        months = [_month(int(year), month, step) for step in (-1, 1)]
        links = [style.format(word=MONTHS[language][m - 1], year=y) for y, m in months]
        return f"{word} {year} {_WEEK}", links, ""

    return calendar


def depths(path: str, query: dict[str, str]) -> Shown | None:
    front = path.partition("?")[0]
    if not front.startswith(("/a/", "/b/", "/c/")):
        return None
    return (
        f"The page {front.rstrip('/').rpartition('/')[2]} of the maze",
        [f"{front}{one}/" for one in "abc"],
        "",
    )


def questions(path: str, query: dict[str, str]) -> Shown | None:
    if not path.startswith("/search"):
        return None
    said = path.partition("?")[2]
    said = "&".join(one for one in said.split("&") if one.startswith("q="))
    return "Nothing was found. Search again:", [f"/search?{said}&q=", f"/search?{said}&q=more"], ""


def sorted_views(path: str, query: dict[str, str]) -> Shown | None:
    """Every page of a list that has none any more, in each order and view."""
    if not path.startswith("/browse"):
        return None
    page = int(query.get("page", 1))
    sort, view = query.get("sort", "name"), query.get("view", "grid")
    links = [f"/browse?page={page + 1}&sort={sort}&view={view}"]
    links += [f"/browse?page={page}&sort={one}&view={view}" for one in ("name", "price", "date", "size")]
    links += [f"/browse?page={page}&sort={sort}&view={one}" for one in ("grid", "list", "table")]
    return f"Page {page}. There is nothing here any more.", links, ""


def endless_ids(path: str, query: dict[str, str]) -> Shown | None:
    if not path.startswith("/x/"):
        return None
    name = path.partition("?")[0].removeprefix("/x/")
    chance = random.Random(name)
    return (
        f"This entry {name} is empty. See also:",
        [f"/x/{chance.getrandbits(48):012x}" for _ in range(4)],
        "",
    )


def endless_numbers(path: str, query: dict[str, str]) -> Shown | None:
    if not path.startswith("/entry"):
        return None
    number = int(query.get("id", 1))
    links = [f"/entry?id={number * 2}", f"/entry?id={number * 2 + 1}"]
    return f"Entry {number} is not there. Next: {number + 1}", links, ""


def relative(path: str, query: dict[str, str]) -> Shown | None:
    """A link without its slash stands on each page."""
    front = path.partition("?")[0]
    if not front.startswith("/docs"):
        return None
    folder = front.rpartition("/")[0]
    page = front.rpartition("/")[2]
    links = [f"{folder}/docs/{name}" for name in ("intro", "install", "usage")]
    return f"The manual, {page}. {words(page, 30)}", links, ""


def folders(path: str, query: dict[str, str]) -> Shown | None:
    """Links to folders without their slash, so that each order of their names is a path."""
    front = path.partition("?")[0]
    if not front.startswith("/info"):
        return None
    here = front.rpartition("/")[0]
    name = front.rpartition("/")[2]
    links = [f"{here}/{one}" for one in ("info/contact", "info/imprint", "about/team", "help/search")]
    return f"Info on {name}. {words(name, 20)}", links, ""


def returns(path: str, query: dict[str, str]) -> Shown | None:
    """A form to log in, which comes back to where it was asked for, and one to register, which do so in turn."""
    front = path.partition("?")[0]
    if front not in ("/login", "/register"):
        return None
    back = query.get("next", "/")
    here = quote(f"{front}?next={quote(back, safe='')}"[-400:], safe="")
    links = [f"/login?next={here}", f"/register?next={here}", f"/register?next={quote(back, safe='')}"]
    return "Log in or register, please.", links, ""


def compared(path: str, query: dict[str, str]) -> Shown | None:
    """Things side by side, in each selection."""
    if not path.startswith("/compare"):
        return None
    chosen = [int(one) for one in query.get("ids", "").split(",") if one.isdigit()]
    chance = random.Random(str(chosen))
    more = [sorted({*chosen, chance.randrange(60)})[-5:] for _ in range(6)]
    links = [f"/compare?ids={','.join(map(str, ids))}" for ids in more]
    said = " ".join(f"{n * 37 % 1000} EUR {words(f'/item/{n}', 8)}" for n in chosen)
    return f"Compare {said}", [*(f"/item/{n}" for n in chosen), *links], ""


def babble(path: str, query: dict[str, str]) -> Shown | None:
    """Text without end, that chance has made."""
    front = path.partition("?")[0]
    if not front.startswith("/babble"):
        return None
    chance = random.Random(front)
    links = ["/babble/" + words(chance.random(), chance.randint(1, 3)).replace(" ", "/") for _ in range(6)]
    return words(front, 60), links, ""


def versions(path: str, query: dict[str, str]) -> Shown | None:
    """Each file in each version of a repository, most of them as they were."""
    parts = path.partition("?")[0].split("/")[1:]
    if parts[0] != "git":
        return None
    number, name = int(parts[1], 16), parts[2]
    steps = [f"/git/{max(0, number + step):08x}" for step in (-1, 1)]
    if name:
        return (
            words(f"{name} {number // 1000}", 60),
            [f"{one}/{name}" for one in (*steps, f"/git/{parts[1]}")],
            "",
        )
    names = [words(f"file {n}", 1) for n in range(15)]
    return " ".join(names), [*(f"/git/{parts[1]}/{one}" for one in names), *(f"{one}/" for one in steps)], ""


TRAPS: dict[str, tuple[Callable[[str, dict[str, str]], Shown | None], tuple[str, ...]]] = {
    "calendar by path": (calendar_by_path, ("/cal/2026/11",)),
    "calendar by query": (calendar_by_query, ("/calendar.php?year=2026&month=11",)),
    "calendar by words, de": (calendar_by_words("de"), ("/kalender/november-2026",)),
    "calendar by words, fr": (calendar_by_words("fr", "/agenda/{year}/{word}"), ("/agenda/2026/mars",)),
    "depth": (depths, ("/a/",)),
    "questions": (questions, ("/search?q=",)),
    "sort, page and view": (sorted_views, ("/browse",)),
    "endless ids": (endless_ids, ("/x/00c0ffee1234",)),
    "endless numbers": (endless_numbers, ("/entry?id=1",)),
    "relative links": (relative, ("/docs/intro",)),
    "folders": (folders, ("/info/contact",)),
    "ways back": (returns, ("/login?next=%2F",)),
    "things compared": (compared, ("/compare?ids=1",)),
    "text by chance": (babble, ("/babble",)),
    "versions": (versions, ("/git/00001388/",)),
}
MARKS = ("", "sid6", "sid32", "tracking", "in path")


def trapped(family: str, marks: str = "", items: int = 600) -> Site:
    trap, entrance = TRAPS[family]
    return Site(trap, entrance, items, marks)


# -- facet shops


@dataclass
class Facets(Site):
    """A shop whose list has filters that combine."""

    facets: int = 3
    paged: bool = True
    values: int = 4

    def answer(self, url: str) -> str | None:
        self.entrance = ()
        return super().answer(url)

    def _shop(self, path: str, query: dict[str, str]) -> Shown | None:
        if path != "/list":
            return super()._shop(path, query)
        chosen = {name: query[name] for name in sorted(query) if name.startswith("f")}
        found = [n for n in range(self.items) if all(self._value(n, name) == chosen[name] for name in chosen)]
        page = int(query.get("page", 1))
        part = found[page * 12 - 12 : page * 12] if self.paged else found
        return (
            f"{len(found)} things, page {page}",
            [*self._links(chosen, page, len(found)), *(f"/item/{n}" for n in part)],
            "",
        )

    def _value(self, number: int, name: str) -> str:
        return _value_of(number, name, self.values)

    def _links(self, chosen: dict[str, str], page: int, found: int) -> Iterator[str]:
        for facet in range(self.facets):
            for value in range(self.values):
                yield _list({**chosen, f"f{chr(97 + facet)}": f"v{value}"})
        for order in ("price", "name"):
            yield _list({**chosen, "orderby": order})
        if self.paged and page * 12 < found:
            yield _list({**chosen, "page": str(page + 1)})

    @property
    def least(self) -> int:
        """Pages that one who knows the shop asks for."""
        return 2 + self.items + (-(-self.items // 12) if self.paged else 1)


@cache
def _value_of(number: int, name: str, values: int) -> str:
    return f"v{random.Random(f'{number} {name}').randrange(values)}"


def _list(query: dict[str, str]) -> str:
    return "/list" + ("?" + "&".join(f"{name}={query[name]}" for name in sorted(query)) if query else "")


# -- chains that are no traps


def chain(kind: str, length: int) -> Site:
    """Pages that each other links by "next", and each of which has something of its own."""

    def shown(path: str, query: dict[str, str]) -> Shown | None:
        if not path.startswith("/chain/"):
            return None
        number = int(path.rpartition("/")[2])
        following = [f"/chain/{number + 1}"] if number < length else []
        return _CHAINS[kind](number), following, ""

    return Site(shown, ("/chain/1",), items=0)


_CHAINS: dict[str, Callable[[int], str]] = {
    "pictures": lambda n: f'<img src="/img/{n}.jpg">',
    "pictures by id": lambda n: f'<img src="/image.php?id={random.Random(n).getrandbits(32):x}">',
    "album": lambda n: f'Photo {n} of the album <a href="/big/{n}.jpg"><img src="/small/{n}.jpg"></a>',
    "forum": lambda n: f"Thread {n}: {words(n, 25, 500)}",
    "changelog": lambda n: f"Version 1.{n}: {words(f'log {n}', 8, 400)}",
    "glossary": lambda n: f"<b>{words(f'term {n}', 1, 100_000)}</b>: {words(n, 6, 200)}",
    "archive": lambda n: f"Issue {n}. {words(f'issue {n}', 12, 2000)}",
    "measurements": lambda n: f"rain {n * 7919 % 100_003} mm",
    "names": lambda n: f"{_word(n * 17 + 5)} {_word(n * 31 + 7)}",
    "data in a script": lambda n: f'<script>var data = {{"price": {n * 7919 % 100_003}}};</script>',
}
CHAINS = tuple(_CHAINS)
