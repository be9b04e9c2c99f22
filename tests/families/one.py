"""Sites with pages that must be seen to be one: evidence.md §6. Each function draws one from chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import quote

from tests.crawl.site import Answer
from tests.families.apart import Family
from tests.families.at_once import AT_ONCE
from tests.families.drafting import Draft, Fetch, Web, escaped
from tests.families.looks import ONE_IN_LOOKS

#: What a page has that changes at each fetch, as HTML.
Volatile = Callable[[Draft, Fetch], str]


def words(draft: Draft, fetch: Fetch) -> str:
    changing = (fetch.chance.getrandbits(24) for _ in range(5))
    return " ".join(f"<i>{draft.prose(1, number)}</i>" for number in changing)


def advertisement(draft: Draft, fetch: Fetch) -> str:
    code, kind = fetch.chance.getrandbits(32), draft.classes[5]
    text = draft.prose(fetch.chance.randint(8, 20), code)
    return f'<div class="{kind}"><a href="http://{kind}.example/{code}"><img src="/{kind}/{code}.gif">{text}</a></div>'


def related(draft: Draft, fetch: Fetch) -> str:
    """Links to other pages of the site, drawn at each fetch."""
    known = [path for path, page in draft.pages.items() if page.item]
    drawn = fetch.chance.sample(known, 4)
    links = (f'<a href="{escaped(path)}">{draft.pages[path].item[0]}</a>' for path in drawn)  # type: ignore[index]
    return f'<div class="{draft.classes[6]}">{" ".join(links)}</div>'


def token(draft: Draft, fetch: Fetch) -> str:
    value = f"{fetch.chance.getrandbits(128):032x}"
    return f'<form><input type="hidden" name="{draft.classes[7]}" value="{value}"></form>'


def load_time(draft: Draft, fetch: Fetch) -> str:
    return f"<small>{draft.classes[5]} {fetch.chance.randint(10, 900) / 1000:.3f}</small>"


def counter(draft: Draft, fetch: Fetch) -> str:
    return f"<small>{draft.classes[6]} {fetch.chance.randint(1000, 99999)}</small>"


def few_words(draft: Draft, fetch: Fetch) -> str:
    """Names that are drawn at each fetch, of words of which there are so few that two answers share some by chance."""
    names = ([draft.prose(1, fetch.chance.randrange(40)) for _ in range(3)] for _ in range(3))
    return "".join(f"<i>{' '.join(name)}</i>" for name in names)


VOLATILE: dict[str, Volatile] = {
    kind.__name__: kind for kind in (words, few_words, advertisement, related, token, load_time, counter)
}


def _things(draft: Draft, paths: Callable[[str], Sequence[str]], *volatile: Volatile, number: int = 0) -> Web:
    """Things with several addresses each, whose pages have parts that change at each fetch."""
    draft.take("//h1/text()", "//b/text()")
    for thing in draft.words(number or draft.chance.randint(20, 28)):
        value = draft.prose(2, thing, "value")
        text = draft.prose(draft.of(thing).randint(85, 130), thing)
        for path in paths(thing):
            draft.add(path, thing, (thing, value), _changing(draft, thing, value, text, volatile))
    return draft.web()


def _changing(
    draft: Draft, thing: str, value: str, text: str, volatile: Sequence[Volatile]
) -> Callable[[Fetch], Answer]:
    def show(fetch: Fetch) -> Answer:
        parts = "".join(f"<div>{part(draft, fetch)}</div>" for part in volatile)
        return draft.html(f"<h1>{thing}</h1><p>{text}</p><b>{value}</b>{parts}")

    return show


def changing_in_text(draft: Draft) -> Web:
    """Five words in ninety that change at each fetch, with no markup of their own."""
    draft.take("//h1/text()", "//b/text()")
    paths = _variants(draft)
    for thing in draft.words(draft.chance.randint(20, 28)):
        value, text = draft.prose(2, thing, "value"), draft.prose(90, thing).split()
        places = draft.of(thing, "places").sample(range(90), 5)
        for path in paths(thing):
            draft.add(path, thing, (thing, value), _with_words(draft, thing, value, text, places))
    return draft.web()


def _with_words(
    draft: Draft, thing: str, value: str, text: Sequence[str], places: Sequence[int]
) -> Callable[[Fetch], Answer]:
    def show(fetch: Fetch) -> Answer:
        shown = list(text)
        for place in places:
            shown[place] = draft.prose(1, fetch.chance.getrandbits(24))
        return draft.html(f"<h1>{thing}</h1><p>{' '.join(shown)}</p><b>{value}</b>")

    return show


def _variants(draft: Draft) -> Callable[[str], Sequence[str]]:
    address, values = draft.address(), draft.values(draft.chance.randint(3, 4))
    return lambda thing: [address(thing, value) for value in values]


def changing(*volatile: Volatile) -> Family:
    return lambda draft: _things(draft, _variants(draft), *volatile)


def tracking(draft: Draft) -> Web:
    """Parameters that say where a visitor came from, some of them on each link, on pages that change."""
    folder, names = draft.word(), draft.words(3)
    values = [draft.values(4) for _ in names]

    def paths(thing: str) -> list[str]:
        made = [f"/{folder}/{thing}"]
        for _ in range(3):
            chosen = draft.chance.sample(range(3), draft.chance.randint(1, 3))
            made.append(
                f"/{folder}/{thing}?"
                + "&".join(f"{names[n]}={draft.chance.choice(values[n])}" for n in chosen)
            )
        return list(dict.fromkeys(made))

    return _things(draft, paths, words, advertisement)


def sessions(draft: Draft) -> Web:
    """Ids of sessions in every link of a page: who comes in with one keeps it."""
    folder, name = draft.words(2)
    ids = [f"{draft.chance.getrandbits(64):016x}" for _ in range(4)]
    things = draft.words(draft.chance.randint(20, 28))
    draft.take("//h1/text()")

    def menu(sid: str, some: Sequence[str]) -> str:
        return "".join(f'<a href="/{folder}/{thing}?{name}={sid}">{thing}</a> ' for thing in some)

    for place, thing in enumerate(things):
        others = [things[(place + step) % len(things)] for step in (1, 2, 3)]
        for sid in ids:
            answer = draft.html(f"<h1>{thing}</h1><p>{draft.prose(95, thing)}</p>{menu(sid, others)}")
            draft.add(f"/{folder}/{thing}?{name}={sid}", thing, (thing,), answer)
    return draft.web([f"/{folder}/{things[0]}?{name}={sid}" for sid in ids])


def links_with_tokens(draft: Draft) -> Web:
    """Links with a token that is new at each fetch: to neighbours, to buy the thing, and to come back to the page."""
    buy, enter, back, name = draft.words(4)
    paths, things = _variants(draft), draft.words(draft.chance.randint(20, 28))
    draft.take("//h1/text()")
    for place, thing in enumerate(things):
        others = [paths(things[(place + step) % len(things)])[0] for step in (1, 2)]
        for path in paths(thing):
            own = quote(f"http://s.test{path}", safe="")
            links = [
                *others,
                f"/{buy}?of={thing}",
                f"/{enter}?{back}={quote(path, safe='')}",
                f"/{enter}?{back}={own}",
            ]
            draft.add(path, thing, (thing,), _with_tokens(draft, thing, links, name))
    return draft.web([path for thing in things for path in paths(thing)])


def _with_tokens(draft: Draft, thing: str, links: Sequence[str], name: str) -> Callable[[Fetch], Answer]:
    def show(fetch: Fetch) -> Answer:
        signed = [
            escaped(f"{link}{'&' if '?' in link else '?'}{name}={fetch.chance.getrandbits(64):016x}")
            for link in links
        ]
        rows = "".join(f'<p class="{draft.classes[5]}"><area href="{link}"></p>' for link in signed)
        form = f'<form action="{signed[-1]}" method="post"><button>x</button></form>'
        return draft.html(f"<h1>{thing}</h1><p>{draft.prose(95, thing)}</p>{rows}{form}")

    return show


def feeds(draft: Draft) -> Web:
    """Feeds that name their own address."""
    address, values = draft.address(), draft.values(3)
    draft.take("//*[local-name()='item']/*[local-name()='title']/text()")
    for thing in draft.words(draft.chance.randint(20, 26)):
        titles = [draft.prose(5, thing, n) for n in range(draft.chance.randint(4, 9))]
        for value in values:
            path = address(thing, value)
            entries = "".join(
                f"<item><title>{title}</title><description>{draft.prose(20, title)}</description></item>"
                for title in titles
            )
            own = f'<atom:link rel="self" href="{escaped(path)}"/><link>{escaped(path)}</link>'
            text = (
                '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">'
                f"<channel><title>{thing}</title>{own}{entries}</channel></rss>"
            )
            answer = Answer(text.encode(), 200, {"Content-Type": "application/rss+xml; charset=utf-8"})
            draft.add(path, thing, (" | ".join(titles),), answer)
    return draft.web()


def login(draft: Draft) -> Web:
    """A log-in page that is told where to go back to; every page links it."""
    folder, where, back, user = draft.words(4)
    draft.take("//h1/text()")
    title, text = draft.word(), draft.prose(30)
    things = draft.words(draft.chance.randint(40, 60))
    links = []
    for thing in things:
        path = f"/{folder}/{thing}"
        own = f"/{where}?{back}={quote(path, safe='')}"
        links.append(path)
        draft.add(
            path,
            thing,
            (thing,),
            draft.html(f'<h1>{thing}</h1><p>{draft.prose(90, thing)}</p><a href="{own}">{title}</a>'),
        )
        form = (
            f'<form action="{own}" method="post"><input name="{user}"><input type="hidden" name="{back}" value="{path}">'
            "</form>"
        )
        draft.add(own, "login", (title,), draft.html(f"<h1>{title}</h1><p>{text}</p>{form}"))
    return draft.web(links)


def fields_with_urls(draft: Draft) -> Web:
    """Filters that stand in a URL twice or once, on pages whose forms are told the addresses of the pages around them."""
    folder, name, back, shown = draft.words(4)
    draft.take("//h1/text()")
    things = draft.words(draft.chance.randint(20, 28))

    def url(thing: str, twice: str) -> str:
        return f"/{folder}/{thing}?{name}={shown}" + (f"&{name}={shown}" if twice else "")

    for place, thing in enumerate(things):
        other = things[(place + 1) % len(things)]
        for twice in ("", "twice"):
            fields = "".join(
                f'<input type="hidden" name="{back}" value="{escaped(url(one, twice))}">'
                for one in (thing, other)
            )
            main = f"<h1>{thing}</h1><p>{draft.prose(90, thing)}</p><form>{fields}</form>"
            draft.add(url(thing, twice), thing, (thing,), draft.html(main))
    return draft.web()


def orders(draft: Draft) -> Web:
    """Orders of lists that are complete."""
    path, name, kind = draft.words(3)
    values = draft.values(4)
    draft.take("//h1/text()")
    for thing in draft.words(draft.chance.randint(18, 26)):
        entries = draft.words(draft.chance.randint(8, 20))
        for value in values:
            shown = sorted(entries, key=lambda entry: draft.of(value, entry).random())
            rows = "".join(f'<li class="{kind}">{entry} {draft.prose(4, entry)}</li>' for entry in shown)
            draft.add(
                f"/{path}/{thing}?{name}={value}",
                thing,
                (thing,),
                draft.html(f"<h1>{thing}</h1><ul>{rows}</ul>"),
            )
    return draft.web()


def print_views(draft: Draft) -> Web:
    """The article alone, without the bar beside it, of which the user has to say that it does not count."""
    folder, suffix, side = draft.words(3)
    draft.ignore = f".{side}"
    draft.take("//h1/text()", "//article/p/text()")
    for thing in draft.words(draft.chance.randint(28, 36)):
        text = draft.prose(draft.of(thing).randint(150, 300), thing)
        article = f"<h1>{thing}</h1><article><p>{text}</p></article>"
        bar = f'<div class="{side}">{draft.prose(12)}</div>'
        draft.add(f"/{folder}/{thing}", thing, (thing, text), draft.html(article + bar))
        draft.add(f"/{folder}/{thing}/{suffix}", thing, (thing, text), draft.html(article))
    return draft.web()


def slashes(draft: Draft) -> Web:
    folder = draft.word()
    return _things(draft, lambda thing: [f"/{folder}/{thing}", f"/{folder}/{thing}/"], number=36)


def index_pages(draft: Draft) -> Web:
    index = draft.chance.choice(["index.html", "index.php", f"{draft.word()}.html"])
    folder = draft.word()
    return _things(draft, lambda thing: [f"/{folder}/{thing}/", f"/{folder}/{thing}/{index}"], number=36)


def replies(draft: Draft) -> Web:
    """Links that answer a comment: the page says whom, and the user that this does not count.

    That the page names the address it stands for is not enough: so do the variants of a product with other prices.
    """
    folder, name, saying, kind = draft.words(4)
    draft.ignore = "h3"
    draft.take("//h1/text()", "//li/text()")
    for thing in draft.words(draft.chance.randint(18, 24)):
        path, own = f"/{folder}/{thing}", draft.prose(draft.of(thing).randint(100, 200), thing)
        comments = {
            draft.chance.randrange(10**4, 10**5): draft.prose(9) for _ in range(draft.chance.randint(3, 5))
        }
        names = {number: draft.word().title() for number in comments}
        rows = "".join(
            f'<li>{text}</li><a class="{kind}" href="{path}?{name}={number}">{saying}</a>'
            for number, text in comments.items()
        )
        item = (thing, " | ".join(comments.values()))
        for number in (None, *comments):
            whom = f"<h3>{saying} {names[number]}</h3>" if number else f"<h3>{saying}</h3>"
            head = f'<link rel="canonical" href="{path}">'
            answer = draft.html(f"<h1>{thing}</h1><p>{own}</p>{rows}{whom}", head)
            draft.add(f"{path}?{name}={number}" if number else path, thing, item, answer)
    return draft.web()


def directories(draft: Draft) -> Web:
    """A server's listings, with a link to order them by each column."""
    folder = draft.word()
    draft.take("//h1/text()")
    linked = []
    for thing in draft.words(draft.chance.randint(18, 24)):
        path = f"/{folder}/{thing}/"
        files = [
            (f"{draft.word()}.bin", n, draft.chance.randrange(10**6))
            for n in range(draft.chance.randint(5, 12))
        ]
        linked.append(path)
        for key in ("", *(f"?C={column};O={order}" for column in "NMS" for order in "AD")):
            column = "NMS".index(key[3]) if key else 0
            shown = sorted(files, key=lambda file: file[column], reverse=key.endswith("D"))
            flip = {letter: "D" if key == f"?C={letter};O=A" else "A" for letter in "NMS"}
            head = "".join(
                f'<th><a href="?C={letter};O={order}">{letter}</a></th>' for letter, order in flip.items()
            )
            rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in file)}</tr>" for file in shown)
            answer = draft.html(f"<h1>{thing}</h1><table><tr>{head}</tr>{rows}</table>")
            draft.add(path + key, thing, (thing,), answer)
    return draft.web(linked)


_OTHERS: Sequence[Family] = (
    tracking, sessions, links_with_tokens, feeds, login, fields_with_urls, orders, print_views, slashes, index_pages, replies, directories,
)  # fmt: skip

#: Families by name.
ONE: dict[str, Family] = {
    "aliases": changing(),
    **{f"changing_{name}": changing(kind) for name, kind in VOLATILE.items()},
    "changing_all": changing(*VOLATILE.values()),
    "changing_in_text": changing_in_text,
    **{family.__name__: family for family in _OTHERS},
    **AT_ONCE,
    **ONE_IN_LOOKS,
}
