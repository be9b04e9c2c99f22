"""Sites that have no end, and sites that only look so. A page is a function of its URL, as in `sites`."""

from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import blake2b
from itertools import combinations
from urllib.parse import quote

from tests.traps.sites import Shown, words

#: A site: what it shows at a path, and where it begins.
Seeming = tuple[Callable[[str, dict[str, str]], Shown | None], str]

ENDLESS: dict[str, Seeming] = {}
FINITE: dict[str, Seeming] = {}

_Answer = Callable[[str, dict[str, str]], Shown]


def _site(sites: dict[str, Seeming], name: str, entrance: str) -> Callable[[_Answer], _Answer]:
    """Adds a site whose pages all begin with the first part of *entrance*. The answer gets the rest of the path."""
    front = entrance.partition("?")[0]
    front = front[: front.index("/", 1)] if "/" in front[1:] else front

    def added(answer: _Answer) -> _Answer:
        def shown(path: str, query: dict[str, str]) -> Shown | None:
            plain = path.partition("?")[0]
            if plain != front and not plain.startswith(front + "/"):
                return None
            return answer(plain.removeprefix(front), query)

        sites[name] = shown, entrance
        return answer

    return added


def _hex(said: object, digits: int = 12) -> str:
    return blake2b(str(said).encode(), digest_size=16).hexdigest()[:digits]


def _number(text: str, otherwise: int = 0) -> int:
    return int(text) if text.isdigit() else otherwise


# -- without an end


@_site(ENDLESS, "days by path", "/dagen/2026/11/3")
def _(path: str, query: dict[str, str]) -> Shown:
    year, month, day = map(int, path.split("/")[1:])
    number = (year * 12 + month - 1) * 28 + day - 1
    near = [(n // 336, n // 28 % 12 + 1, n % 28 + 1) for n in (number - 1, number + 1, number + 28)]
    return f"Geen afspraken op {day} {month} {year}", [f"/dagen/{y}/{m}/{d}" for y, m, d in near], ""


_MESES = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()


@_site(ENDLESS, "months in Spanish", "/calendario/2026/noviembre")
def _(path: str, query: dict[str, str]) -> Shown:
    _, year, month = path.split("/")
    number = int(year) * 12 + _MESES.index(month)
    near = [f"/calendario/{n // 12}/{_MESES[n % 12]}" for n in (number - 1, number + 1, number + 12)]
    return f"{month} de {year}: lu ma mi ju vi sa do", near, ""


@_site(ENDLESS, "weeks", "/week/2026-W45")
def _(path: str, query: dict[str, str]) -> Shown:
    year, week = path.removeprefix("/").split("-W")
    number = int(year) * 52 + int(week) - 1
    near = [f"/week/{n // 52}-W{n % 52 + 1:02}" for n in (number - 1, number + 1)]
    return f"Week {week} of {year}. Nothing is planned.", near, ""


@_site(ENDLESS, "ways that nest", "/go?to=%2F")
def _(path: str, query: dict[str, str]) -> Shown:
    here = quote("/go?to=" + quote(query.get("to", "/"), safe=""), safe="")[-300:]
    return "You are leaving us.", [f"/go?to={here}", f"/go?back={here}&to=%2Fabout"], ""


@_site(ENDLESS, "wiki differences", "/w/index?title=Main&oldid=100")
def _(path: str, query: dict[str, str]) -> Shown:
    old, new = _number(query.get("oldid", "1")), _number(query.get("diff", "0"))
    title = query.get("title", "Main")
    near = [(max(1, old + step), new) for step in (-1, 1, 7)] + [
        (old, max(1, new + step)) for step in (-1, 1)
    ]
    links = [f"/w/index?title={title}&oldid={one}&diff={other}" for one, other in near]
    return f"Revision {old} against {new} of {title}. {words(f'{title} {old // 50}', 40)}", links, ""


@_site(ENDLESS, "search within search", "/find?q=a")
def _(path: str, query: dict[str, str]) -> Shown:
    said = query.get("q", "")
    chance = random.Random(said)
    more = [f"/find?q={quote((said + ' ' + words(chance.random(), 1))[-80:])}" for _ in range(4)]
    return f"Things with {said}", [*(f"/item/{chance.randrange(100)}" for _ in range(3)), *more], ""


@_site(ENDLESS, "feeds for each user", "/feeds/start")
def _(path: str, query: dict[str, str]) -> Shown:
    links = [f"/feeds/{_hex((path, n), 16)}/rss" for n in range(4)]
    return "Your own feed. Copy this address.", [*links, *(f"/item/{n}" for n in range(5))], ""


@_site(ENDLESS, "from where one comes", "/story?n=1&from=home")
def _(path: str, query: dict[str, str]) -> Shown:
    number = _number(query.get("n", "1"), 1)
    came = f"{number}-{query.get('from', '')}"[:60]
    links = [f"/story?n={(number * step + 1) % 40}&from={came}" for step in (1, 3, 7)]
    return f"{words(f'story {number % 40}', 60)}", links, f"story {number % 40}"


@_site(ENDLESS, "scrolling without an end", "/more?cursor=start")
def _(path: str, query: dict[str, str]) -> Shown:
    chance = random.Random(query.get("cursor", ""))
    links = [f"/item/{chance.randrange(100)}" for _ in range(5)]
    return "More for you", [*links, f"/more?cursor={_hex(query.get('cursor'))}"], ""


@_site(ENDLESS, "tags and tags", "/tagged/red")
def _(path: str, query: dict[str, str]) -> Shown:
    chosen = path.removeprefix("/").split("+")
    colours = [words(f"tag {n}", 1) for n in range(30)]
    chance = random.Random(path)
    more = ["+".join(sorted({*chosen, one})[:6]) for one in chance.sample(colours, 6)]
    return (
        f"Tagged {' '.join(chosen)}",
        [f"/item/{chance.randrange(100)}", *(f"/tagged/{one}" for one in more)],
        "",
    )


@_site(ENDLESS, "variants of a test", "/home?ab=1")
def _(path: str, query: dict[str, str]) -> Shown:
    number = _number(query.get("ab", "1"))
    links = [f"/home?ab={number + 1}", f"/home?ab={number * 3 + 1}", "/item/1", "/item/2"]
    return "Welcome to our home. We try something.", links, ""


@_site(ENDLESS, "sessions in folders", "/visit/0123456789abcdef/")
def _(path: str, query: dict[str, str]) -> Shown:
    _, _, *rest = path.split("/")
    name = rest[0] if rest else ""
    links = [f"/visit/{_hex((path, n), 16)}/{one}" for n, one in enumerate(("", "help", "terms"))]
    return f"Your visit. {words(f'visit {name}', 30)}", links, ""


@_site(ENDLESS, "an empty table in each order", "/table?page=1")
def _(path: str, query: dict[str, str]) -> Shown:
    page = _number(query.get("page", "1"))
    said = {"page": str(page), **{name: query[name] for name in ("sort", "dir", "per") if name in query}}
    changed = [
        {"page": str(page + 1)},
        {"sort": "name"},
        {"sort": "date"},
        {"dir": "up"},
        {"dir": "down"},
        {"per": "50"},
    ]
    links = ["/table?" + "&".join(f"{k}={v}" for k, v in sorted({**said, **one}.items())) for one in changed]
    return "No more rows.", links, ""


@_site(ENDLESS, "languages in languages", "/en/about")
def _(path: str, query: dict[str, str]) -> Shown:
    links = [f"/en/{one}{path}"[:200] for one in ("de", "fr", "es")]
    return f"About us, in many languages. {words(path[:4], 20)}", links, ""


@_site(ENDLESS, "a map", "/map?x=0&y=0&zoom=5")
def _(path: str, query: dict[str, str]) -> Shown:
    x, y = (int(query.get(name, "0")) for name in "xy")
    zoom = _number(query.get("zoom", "5"))
    near = [(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)]
    links = [f"/map?x={one}&y={other}&zoom={zoom}" for one, other in near]
    return f"Map at {x} {y}", [*links, f"/map?x={2 * x}&y={2 * y}&zoom={zoom + 1}"], ""


@_site(ENDLESS, "before and before", "/timeline?before=1700000000")
def _(path: str, query: dict[str, str]) -> Shown:
    before = _number(query.get("before", "0"))
    return "There is nothing older.", [f"/timeline?before={before - step}" for step in (3600, 86400)], ""


@_site(ENDLESS, "sayings by chance", "/saying/1")
def _(path: str, query: dict[str, str]) -> Shown:
    chance = random.Random(path)
    links = [f"/saying/{chance.randrange(10**9)}" for _ in range(3)]
    return words(path, 15, 2000), links, ""


@_site(ENDLESS, "letters in each order", "/letters/abcdefgh")
def _(path: str, query: dict[str, str]) -> Shown:
    said = path.removeprefix("/")
    swapped = [said[:n] + said[n + 1] + said[n] + said[n + 2 :] for n in range(len(said) - 1)]
    return f"{said} is no word", [f"/letters/{one}" for one in swapped], ""


@_site(ENDLESS, "answers to answers", "/reply?to=1")
def _(path: str, query: dict[str, str]) -> Shown:
    to = _number(query.get("to", "1"))
    links = [f"/reply?to={to * 2 + step}&quote={to}" for step in (0, 1)]
    return "Write an answer. You must be logged in.", links, ""


@_site(ENDLESS, "baskets", "/basket?things=1")
def _(path: str, query: dict[str, str]) -> Shown:
    chosen = [int(one) for one in query.get("things", "").split(",") if one.isdigit()]
    chance = random.Random(str(chosen))
    more = [[*chosen, chance.randrange(100)][-6:] for _ in range(5)]
    links = [f"/basket?things={','.join(map(str, one))}" for one in more]
    total = sum(n * 37 % 1000 for n in chosen)
    return f"{len(chosen)} things for {total} EUR", [*(f"/item/{n}" for n in chosen), *links], ""


# -- with an end, and with items of their own


@_site(FINITE, "offsets", "/offset?start=0")
def _(path: str, query: dict[str, str]) -> Shown:
    start = _number(query.get("start", "0"))
    links = [f"/offset?start={start + 10}"] if start < 2000 else []
    return f"From {start}", links, f"row {start}"


@_site(FINITE, "a chain of items", "/next/1")
def _(path: str, query: dict[str, str]) -> Shown:
    number = int(path[1:])
    return "Next", [f"/next/{number + 1}"] if number < 300 else [], f"link {number}"


@_site(FINITE, "a forum", "/forum/0")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/thread-"):
        return words(path, 20, 300), ["/forum/0"], path
    page = int(path[1:])
    links = [f"/forum/thread-{page * 30 + n}" for n in range(30)]
    return f"Threads {page}", [*links, *([f"/forum/{page + 1}"] if page < 30 else [])], ""


@_site(FINITE, "versions with items", "/release/1.0")
def _(path: str, query: dict[str, str]) -> Shown:
    number = int(path.partition(".")[2])
    return (
        f"Fixed {words(path, 4, 50)}",
        [f"/release/1.{number + 1}"] if number < 400 else [],
        f"release {number}",
    )


@_site(FINITE, "a calendar full of events", "/events/2026/1/1")
def _(path: str, query: dict[str, str]) -> Shown:
    year, month, day = map(int, path.split("/")[1:])
    number = (year * 12 + month - 1) * 28 + day - 1
    near = [(n // 336, n // 28 % 12 + 1, n % 28 + 1) for n in (number - 1, number + 1)]
    links = [f"/events/{y}/{m}/{d}" for y, m, d in near if 2025 <= y <= 2026]
    return f"{day} {month} {year}", links, f"event {path}" if number % 3 == 0 else ""


@_site(FINITE, "numbered issues", "/issue/0001")
def _(path: str, query: dict[str, str]) -> Shown:
    number = int(path[1:])
    links = [f"/issue/{n:04}" for n in (number + 1, number * 2) if n <= 400]
    return f"Issue {number}", links, f"issue {number}"


@_site(FINITE, "articles behind differences", "/wiki?diff=1")
def _(path: str, query: dict[str, str]) -> Shown:
    if "title" in query:
        return words(query["title"], 30), [], f"article {query['title']}"
    number = _number(query.get("diff", "1"))
    links = [f"/wiki?diff={number + 1}"] if number < 500 else []
    return f"Difference {number}", [*links, *([f"/wiki?title=a{number}"] if number % 12 == 0 else [])], ""


@_site(FINITE, "a catalogue behind a search", "/query?q=")
def _(path: str, query: dict[str, str]) -> Shown:
    said = query.get("q", "")
    more = [f"/query?q={said}{one}" for one in "abcdefgh"] if len(said) < 3 else []
    return f"Names with {said}", more, f"name {said}" if said and _number(_hex(said, 1), 9) < 5 else ""


@_site(FINITE, "people and their friends", "/people/0")
def _(path: str, query: dict[str, str]) -> Shown:
    number = int(path[1:])
    chance = random.Random(number)
    friends = {(number + 1) % 500, *(chance.randrange(500) for _ in range(5))}
    return (
        f"Person {number}",
        [f"/people/{n}" for n in friends],
        f"person {number}" if number % 4 == 0 else "",
    )


@_site(FINITE, "scrolling to an end", "/scroll?cursor=0")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/thing-"):
        return words(path, 9), [], path
    number = _number(query.get("cursor", "0").partition("-")[0])
    links = [f"/scroll/thing-{number * 5 + n}" for n in range(5)]
    following = [f"/scroll?cursor={number + 1}-{_hex(number)}"] if number < 80 else []
    return "More", [*links, *following], ""


@_site(FINITE, "things under two tags alone", "/both")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/thing-"):
        return words(path, 9), [], path
    chosen = path[1:].split("+") if path else []
    if len(chosen) == 2:
        return "Both", [f"/both/thing-{_hex((path, n), 8)}" for n in range(_number(_hex(path, 1), 2) % 3)], ""
    pairs = combinations([words(f"both {n}", 1) for n in range(25)], 2)
    return "Tags", [f"/both/{'+'.join(pair)}" for pair in pairs], ""


@_site(FINITE, "a variant that matters", "/offer/0")
def _(path: str, query: dict[str, str]) -> Shown:
    number, variant = int(path[1:]), query.get("ab", "1")
    links = [f"/offer/{n}?ab={v}" for n in range(80) for v in (1, 2)] if number == 0 else []
    matters = number % 8 == 0
    return (
        words(f"{number} {variant if matters else 1}", 15),
        links,
        f"offer {number} {variant if matters else 1}",
    )


@_site(FINITE, "commits", "/commit/0")
def _(path: str, query: dict[str, str]) -> Shown:
    number = _number(path[1:].partition("-")[0])
    links = [f"/commit/{number + 1}-{_hex(number, 16)}"] if number < 350 else []
    return f"Changed {words(path, 5, 60)}", links, f"commit {number}"


@_site(FINITE, "places on a grid", "/grid?x=0&y=0")
def _(path: str, query: dict[str, str]) -> Shown:
    x, y = (int(query.get(name, "0")) for name in "xy")
    near = [(a, b) for a, b in ((x + 1, y), (x, y + 1)) if a < 22 and b < 22]
    has_item = random.Random(f"{x} {y}").random() < 0.1
    return f"{x} {y}", [f"/grid?x={a}&y={b}" for a, b in near], f"place {x} {y}" if has_item else ""


@_site(FINITE, "deep folders of the same names", "/files/")
def _(path: str, query: dict[str, str]) -> Shown:
    depth = path.count("/")
    links = [f"/files{path.rstrip('/')}/{name}/" for name in ("old", "new", "copy")] if depth < 6 else []
    return f"Folder {words(path, 5)}", links, f"folder {path}" if depth > 3 else ""


@_site(FINITE, "a blog by days", "/blog/2020/1/1")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/post-"):
        return words(path, 30), [], path
    year, month, day = map(int, path.split("/")[1:])
    number = (year * 12 + month - 1) * 28 + day - 1
    links = [
        f"/blog/{n // 336}/{n // 28 % 12 + 1}/{n % 28 + 1}"
        for n in (number + 1, number + 28)
        if n < 2022 * 336
    ]
    posts = [f"/blog/post-{number}"] if random.Random(number).random() < 0.05 else []
    return f"{day} {month} {year}", [*links, *posts], ""


@_site(FINITE, "a review of each pair", "/versus/1-2")
def _(path: str, query: dict[str, str]) -> Shown:
    one, other = map(int, path[1:].split("-"))
    chance = random.Random(path)
    pairs = [sorted((chance.choice((one, other)), chance.randrange(25))) for _ in range(5)]
    links = [f"/versus/{a}-{b}" for a, b in [*pairs, [one, (other + 1) % 25]] if a != b]
    return f"{words(one, 8)} {words(other, 8)}", links, f"review {path}" if (one + other) % 3 == 0 else ""


@_site(FINITE, "lists that are cut", "/cut")
def _(path: str, query: dict[str, str]) -> Shown:
    if "id" in query:
        return words(path, 9), [], f"cut {query['id']}"
    chosen = {name: value for name, value in sorted(query.items()) if name.startswith("f")}
    found = [
        n for n in range(600) if all(_number(_hex((n, k), 2), n) % 3 == int(v) for k, v in chosen.items())
    ][:12]
    filters = [{**chosen, f"f{one}": str(value)} for one in "abcde" for value in range(3)]
    lists = ["/cut?" + "&".join(f"{k}={v}" for k, v in sorted(one.items())) for one in filters]
    return "Things", [*lists, *(f"/cut/thing?id={n}" for n in found)], ""


@_site(FINITE, "shops of some places alone", "/place?id=1")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/shop-"):
        return words(path, 9), [], path
    number = _number(query.get("id", "1"))
    if "shops" in query:
        return "Shops", [f"/place/shop-{number}"] if number % 30 == 0 else [], ""
    near = [f"/place?id={n}" for n in range(number + 1, min(number + 4, 400))]
    return "Place", [*near, f"/place?id={number}&shops=all"], ""


@_site(FINITE, "shops of some towns, two links below", "/land/1")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/shop-"):
        return words(path, 9), [], path
    _, number, *rest = path.split("/")
    if len(rest) == 2:
        return "Shops", [f"/land/shop-{number}"] if int(number) % 20 == 0 else [], ""
    if rest:
        return "Towns", [f"/land/{number}/towns/shops"], ""
    near = [f"/land/{n}" for n in range(int(number) + 1, min(int(number) + 4, 300))]
    return "Land", [*near, f"/land/{number}/towns"], ""


@_site(FINITE, "stories by chance", "/tale/0")
def _(path: str, query: dict[str, str]) -> Shown:
    number = int(path[1:])
    chance = random.Random(f"tale {number}")
    links = [f"/tale/{chance.randrange(600)}" for _ in range(4)]
    return (
        words(path, 40),
        [*links, f"/tale/{(number + 1) % 600}"],
        f"tale {number}" if number % 5 == 0 else "",
    )


@_site(FINITE, "chapters before a list", "/chapter/1")
def _(path: str, query: dict[str, str]) -> Shown:
    if path.startswith("/end-"):
        return words(path, 9), [], path
    number = int(path[1:])
    ends = [f"/chapter/end-{n}" for n in range(50)] if number == 120 else []
    return words(path, 40, 500), [f"/chapter/{number + 1}"] if number < 120 else ends, ""
