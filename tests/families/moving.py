"""Sites on which much changes at each fetch, and some of what stands there does not: that has to be told apart.

Most things show one page at all of their addresses. A few show another one at each, and it differs only where others change.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.crawl.site import Answer
from tests.families.apart import Family
from tests.families.attacked import _spelled, _token
from tests.families.drafting import Draft, Fetch, Web, escaped
from tests.families.one import advertisement, words

#: Of so many things one is told apart by its addresses.
_ONE_IN = 8


class _Thing(NamedTuple):
    name: str
    path: str
    code: str  #: of three digits; for most things the same at all addresses
    is_apart: bool  #: each of its addresses has another code


def _things(draft: Draft, number: int = 30, one_in: int = _ONE_IN) -> Iterator[_Thing]:
    address, values = draft.address(), draft.values(3)
    for place, name in enumerate(draft.words(number)):
        codes = draft.of(name).sample(range(100, 999), 3)
        is_apart = place % one_in == 0
        for code, value in zip(codes, values, strict=True):
            yield _Thing(name, address(name, value), str(code if is_apart else codes[0]), is_apart)


#: What a thing shows at a fetch, as HTML.
_Part = Callable[[Fetch, _Thing], str]


def _beside_text(part: _Part, path: str, taken: Callable[[_Thing], str]) -> Family:
    """Things whose *part* stands beside a long text; a spider takes what the XPath *path* gives, which is *taken*."""

    def draw(draft: Draft) -> Web:
        draft.take("//h1/text()", path)
        for thing in _things(draft):
            start = f"<h1>{thing.name}</h1><p>{draft.prose(70, thing.name)}</p>"
            page = (thing.name, thing.code) if thing.is_apart else thing.name
            draft.add(thing.path, page, (thing.name, taken(thing)), _showing(draft, start, part, thing))
        return draft.web()

    return draw


def _showing(draft: Draft, start: str, part: _Part, thing: _Thing) -> Callable[[Fetch], Answer]:
    return lambda fetch: draft.html(start + part(fetch, thing))


def _of_those_apart(said: str) -> Callable[[_Thing], str]:
    return lambda thing: "x" + (said.format(code=thing.code) if thing.is_apart else "")


def _offer(fetch: Fetch, thing: _Thing) -> str:
    """Where others have an advertisement, an offer."""
    text = f"{_spelled(thing.code)} sale" if thing.is_apart else _spelled(str(fetch.chance.getrandbits(40)))
    return f'<div class="ad">{text}</div>'


def _price(fetch: Fetch, thing: _Thing) -> str:
    if thing.is_apart:
        return f"<i>{thing.code}</i><s></s>"
    return f"<i>{fetch.chance.randint(100, 999)}</i>"


def _picture(fetch: Fetch, thing: _Thing) -> str:
    file = thing.code if thing.is_apart else _token(fetch)
    return f'<div class="lot"{" title=own" if thing.is_apart else ""}><img src="/{file}.jpg"></div>'


def _quantity(fetch: Fetch, thing: _Thing) -> str:
    return f"<i>seen {fetch.chance.randint(1000, 99999)} times, {thing.code} left</i>"


def _size(fetch: Fetch, thing: _Thing) -> str:
    return f"<i>size {_spelled(thing.code)} ref {_token(fetch)}</i>"


def _price_and_word(fetch: Fetch, thing: _Thing) -> str:
    return f"<i>{thing.code} {_spelled(str(fetch.chance.getrandbits(40)))}</i>"


def _word_and_word(fetch: Fetch, thing: _Thing) -> str:
    return f"<i>{_spelled(thing.code)} {_spelled(str(fetch.chance.getrandbits(40)))}</i>"


def _word_and_few_words(fetch: Fetch, thing: _Thing) -> str:
    """The drawn words are thirty in all, so that two answers share some of them by chance."""
    drawn = " ".join(_spelled(str(fetch.chance.randrange(30))) for _ in range(4))
    return f"<i>{_spelled(thing.code)} {drawn}</i>"


def _attribute(fetch: Fetch, thing: _Thing) -> str:
    return f'<i data-say="{_spelled(thing.code)} {_spelled(str(fetch.chance.getrandbits(40)))}">x</i>'


def _link(fetch: Fetch, thing: _Thing) -> str:
    return f'<a class="buy" href="/buy?of={thing.name}&amp;t={_token(fetch)}&amp;v={thing.code}">x</a>'


def _jittering_attribute(fetch: Fetch, thing: _Thing) -> str:
    return f'<i data-price="{thing.code}{fetch.chance.randint(100, 999)}">x</i>'


def _jittering_price(fetch: Fetch, thing: _Thing) -> str:
    return f"<i>{thing.code}{fetch.chance.randint(100, 999)}</i>"


def _in_list(fetch: Fetch, thing: _Thing) -> str:
    rows = "".join(f"<li>{thing.name} {word}</li>" for word in ("one", "two", "three", "four"))
    return f"<ul>{rows}<li>{thing.code} {_spelled(str(fetch.chance.getrandbits(40)))}</li></ul>"


def _in_long_text(fetch: Fetch, thing: _Thing) -> str:
    """Of sixty words five are drawn at each fetch, and one of these follows the item."""
    own = random.Random(thing.name)
    said = [_spelled(str(own.getrandbits(40))) for _ in range(60)]
    places = own.sample(range(60), 5)
    for place in places:
        said[place] = _spelled(str(fetch.chance.getrandbits(40)))
    said.insert(places[0], f"about {_spelled(thing.code)}")
    return f"<em>{' '.join(said)}</em>"


def related_with_fixed(draft: Draft) -> Web:
    """Lists of which all entries are drawn at each fetch, but for one on some pages."""
    draft.take("//h1/text()", "concat('x', //div[@class='rel']/a[@rel='fixed']/text())")
    things, others = list(_things(draft)), draft.words(12)
    names = list(dict.fromkeys(thing.name for thing in things))
    for thing in things:
        fixed = others[int(thing.code) % len(others)] + thing.code

        def show(fetch: Fetch, thing: _Thing = thing, fixed: str = fixed) -> Answer:
            drawn = [*fetch.chance.sample(names, 3), fixed if thing.is_apart else fetch.chance.choice(others)]
            rel = [' rel="fixed"' if thing.is_apart and one == fixed else "" for one in drawn]
            links = "".join(
                f'<a href="/r/{one}"{said}>{one}</a> ' for one, said in zip(drawn, rel, strict=True)
            )
            text = f"<h1>{thing.name}</h1><p>{draft.prose(70, thing.name)}</p>"
            return draft.html(f'{text}<div class="rel">{links}</div>')

        page = (thing.name, thing.code) if thing.is_apart else thing.name
        draft.add(thing.path, page, (thing.name, "x" + (fixed if thing.is_apart else "")), show)
    return draft.web()


def only_link(draft: Draft) -> Web:
    """The only link to an item stands, on some pages, in a list of links that are drawn at each fetch."""
    draft.take("//h1/text()")
    folder, things = draft.word(), list(_things(draft))
    links = [(thing.path, thing.name) for thing in things]
    for thing in things:
        target, title = f"/{folder}/{draft.word()}", draft.word()
        if thing.is_apart:
            draft.add(target, title, (title,), draft.html(f"<h1>{title}</h1><p>{draft.prose(60, title)}</p>"))

        def show(fetch: Fetch, thing: _Thing = thing, target: str = target) -> Answer:
            drawn = fetch.chance.sample(links, 4)
            if thing.is_apart:
                drawn[1] = target, links[0][1]
            shown = "".join(f'<a href="{escaped(link)}">{said}</a> ' for link, said in drawn)
            text = f"<h1>{thing.name}</h1><p>{draft.prose(70, thing.name)}</p>"
            return draft.html(f'{text}<div class="rel">{shown}</div>')

        page = (thing.name, thing.code) if thing.is_apart else thing.name
        draft.add(thing.path, page, (thing.name,), show)
    return draft.web([thing.path for thing in things])


def feed_dates(draft: Draft) -> Web:
    """Feeds that name their own address and differ in the dates of their entries."""
    address, values = draft.address(), draft.values(3)
    draft.take(
        "//*[local-name()='item']/*[local-name()='title']/text()", "//*[local-name()='pubDate']/text()"
    )
    for thing in draft.words(24):
        titles = [draft.prose(5, thing, number) for number in range(5)]
        for year, value in enumerate(values, start=2010):
            path = address(thing, value)
            dates = [f"{draft.of(thing, year, day).randint(1, 28)} Jan {year}" for day in range(5)]
            entries = "".join(
                f"<item><title>{title}</title><pubDate>{date}</pubDate></item>"
                for title, date in zip(titles, dates, strict=True)
            )
            own = f'<atom:link rel="self" href="{escaped(path)}"/><link>{escaped(path)}</link>'
            text = (
                '<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">'
                f"<channel><title>{thing}</title>{own}{entries}</channel></rss>"
            )
            answer = Answer(text.encode(), 200, {"Content-Type": "application/rss+xml; charset=utf-8"})
            draft.add(path, (thing, value), (" | ".join(titles), " | ".join(dates)), answer)
    return draft.web()


def tracking_matters(draft: Draft) -> Web:
    """A parameter that looks like tracking on pages that change, and matters for one thing of fifteen."""
    draft.take("//h1/text()", "//b/text()")
    for thing in _things(draft, one_in=15):
        value = draft.prose(2, thing.name, thing.code)
        start = f"<h1>{thing.name}</h1><p>{draft.prose(90, thing.name)}</p><b>{value}</b>"

        def show(fetch: Fetch, start: str = start) -> Answer:
            return draft.html(
                f"{start}<div>{words(draft, fetch)}</div><div>{advertisement(draft, fetch)}</div>"
            )

        page = (thing.name, thing.code) if thing.is_apart else thing.name
        draft.add(thing.path, page, (thing.name, value), show)
    return draft.web()


#: Families by name.
MOVING: dict[str, Family] = {
    "offer_among_advertisements": _beside_text(
        _offer, "concat('x', substring-before(//div[@class='ad'], ' sale'))", lambda thing: (
            "x" + (_spelled(thing.code) if thing.is_apart else "")
        )
    ),
    "fixed_among_live": _beside_text(
        _price, "concat('x', //i[following-sibling::s]/text())", _of_those_apart("{code}")
    ),
    "fixed_picture": _beside_text(
        _picture, "concat('x', //div[@title]//img/@src)", _of_those_apart("/{code}.jpg")
    ),
    "quantity_beside_counter": _beside_text(
        _quantity, "substring-before(substring-after(//i, ', '), ' left')", lambda thing: thing.code
    ),
    "size_beside_token": _beside_text(
        _size, "substring-before(substring-after(//i, 'size '), ' ref')", lambda thing: _spelled(thing.code)
    ),
    "price_beside_word": _beside_text(
        _price_and_word, "substring-before(//i, ' ')", lambda thing: thing.code
    ),
    "word_beside_word": _beside_text(
        _word_and_word, "substring-before(//i, ' ')", lambda thing: _spelled(thing.code)
    ),
    "word_beside_few_words": _beside_text(
        _word_and_few_words, "substring-before(//i, ' ')", lambda thing: _spelled(thing.code)
    ),
    "name_in_attribute": _beside_text(
        _attribute, "substring-before(//i/@data-say, ' ')", lambda thing: _spelled(thing.code)
    ),
    "price_in_link": _beside_text(
        _link, "substring-after(//a[@class='buy']/@href, 'v=')", lambda thing: thing.code
    ),
    "jittering_attribute": _beside_text(
        _jittering_attribute, "substring(//i/@data-price, 1, 3)", lambda thing: thing.code
    ),
    "price_in_list": _beside_text(
        _in_list, "substring-before(//ul/li[5], ' ')", lambda thing: thing.code
    ),
    "name_in_long_text": _beside_text(
        _in_long_text,
        "substring-before(substring-after(//em, 'about '), ' ')",
        lambda thing: _spelled(thing.code),
    ),
    "jittering_price": _beside_text(_jittering_price, "substring(//i, 1, 3)", lambda thing: thing.code),
    **{family.__name__: family for family in (related_with_fixed, only_link, feed_dates, tracking_matters)},
}  # fmt: skip
