"""Where two pages may differ while their words are (nearly) the same: evidence.md §5, a function each.

A function draws the markup of its site and returns what shows a value there: HTML for the body and the head, and what a
spider takes of it. The text around it is the same for all variants of a thing.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import NamedTuple

from tests.families.drafting import Draft


class Shown(NamedTuple):
    main: str
    taken: str
    head: str = ""
    bare: bool = False  #: whether the page has no text beside it


#: Thing, variant → what the page shows of them.
Part = Callable[[str, str], Shown]


def _amount(chance: random.Random) -> str:
    return f"{chance.randint(1, 999)}.{chance.randint(0, 99):02d}"


def price(draft: Draft) -> Part:
    tag, name = draft.element()
    draft.take("//h1/text()", f"//{tag}[@class='{name}']/text()")

    def show(thing: str, variant: str) -> Shown:
        value = _amount(draft.of(thing, variant))
        return Shown(f'<{tag} class="{name}">{value}</{tag}>', value)

    return show


def six_prices(draft: Draft) -> Part:
    tag, name = draft.element()
    captions = draft.words(6)
    draft.take("//h1/text()", f"//{tag}[@class='{name}']/text()")

    def show(thing: str, variant: str) -> Shown:
        chance = draft.of(thing, variant)
        values = [_amount(chance) for _ in captions]
        cells = [f'{a} <{tag} class="{name}">{b}</{tag}>' for a, b in zip(captions, values, strict=True)]
        return Shown("".join(f"<section>{cell}</section>" for cell in cells), " | ".join(values))

    return show


def stock(draft: Draft) -> Part:
    tag, name = draft.element()
    states = draft.words(9)
    known: dict[str, str] = {}
    draft.take("//h1/text()", f"//{tag}[@class='{name}']/text()")

    def show(thing: str, variant: str) -> Shown:
        value = known.setdefault(variant, states[len(known)])
        return Shown(f'<{tag} class="{name}">{value}</{tag}>', value)

    return show


def digit(draft: Draft) -> Part:
    """Somewhere in a long text, with no markup of its own."""
    _, name = draft.element()
    length = draft.chance.randint(400, 1200)
    draft.take("//h1/text()", f"//p[@class='{name}']/text()")
    known: dict[str, int] = {}

    def show(thing: str, variant: str) -> Shown:
        number = known.setdefault(variant, len(known))
        words = draft.prose(length, thing).split()
        words.insert(draft.of(thing).randrange(length), str(number))
        return Shown(f'<p class="{name}">{" ".join(words)}</p>', " ".join(words))

    return show


def _attribute(
    draft: Draft, html: str, path: str, value: Callable[[str], str], *, head: bool = False
) -> Part:
    """A part that is one attribute: *html* and *path* have a class and a value, or a class, to fill in."""
    name = draft.word()
    draft.take("//h1/text()", path.format(name=name))

    def show(thing: str, variant: str) -> Shown:
        filled = value(draft.of(thing, variant).getrandbits(40).to_bytes(5).hex())
        text = html.format(name=name, value=filled)
        return Shown("" if head else text, filled, text if head else "")

    return show


def _file(draft: Draft, *endings: str) -> Callable[[str], str]:
    folder, ending = draft.word(), draft.chance.choice(endings)
    return lambda code: f"/{folder}/{code}.{ending}"


def picture(draft: Draft) -> Part:
    return _attribute(
        draft,
        '<img class="{name}" src="{value}" alt="">',
        "//img[@class='{name}']/@src",
        _file(draft, "jpg", "png"),
    )


def srcset(draft: Draft) -> Part:
    html = '<img class="{name}" src="/blank.gif" srcset="{value} 2x">'
    return _cut(draft, html, "//img[@class='{name}']/@srcset", _file(draft, "jpg", "webp"), " 2x")


def _cut(draft: Draft, html: str, path: str, value: Callable[[str], str], after: str) -> Part:
    part = _attribute(draft, html, path, value)

    def show(thing: str, variant: str) -> Shown:
        shown = part(thing, variant)
        return shown._replace(taken=shown.taken + after)

    return show


def background(draft: Draft) -> Part:
    file = _file(draft, "jpg", "png")
    html, path = '<div class="{name}" style="{value}"></div>', "//div[@class='{name}']/@style"
    return _attribute(draft, html, path, lambda code: f"background-image: url({file(code)})")


def audio(draft: Draft) -> Part:
    html = '<audio class="{name}" controls src="{value}"></audio>'
    return _attribute(draft, html, "//audio[@class='{name}']/@src", _file(draft, "mp3", "ogg"))


def video(draft: Draft) -> Part:
    html = '<video class="{name}"><source src="{value}"></video>'
    return _attribute(draft, html, "//video[@class='{name}']/source/@src", _file(draft, "mp4", "webm"))


def poster(draft: Draft) -> Part:
    html = '<video class="{name}" poster="{value}"></video>'
    return _attribute(draft, html, "//video[@class='{name}']/@poster", _file(draft, "jpg"))


def iframe(draft: Draft) -> Part:
    html = '<iframe class="{name}" src="{value}"></iframe>'
    host = draft.word()
    return _attribute(draft, html, "//iframe[@class='{name}']/@src", lambda code: f"//{host}.example/{code}")


def hidden_field(draft: Draft) -> Part:
    html = '<form><input type="hidden" name="{name}" value="{value}"></form>'
    return _attribute(draft, html, "//input[@name='{name}']/@value", str)


def visible_field(draft: Draft) -> Part:
    html = '<form><label>x <input name="{name}" value="{value}"></label></form>'
    return _attribute(draft, html, "//input[@name='{name}']/@value", str)


def option(draft: Draft) -> Part:
    html = '<select name="{name}"><option value="{value}">x</option></select>'
    return _attribute(draft, html, "//select[@name='{name}']/option/@value", str)


def data_attribute(draft: Draft) -> Part:
    tag, mine = draft.element()
    html = f'<{tag} data-{mine}="{{value}}" class="{{name}}">x</{tag}>'
    return _attribute(draft, html, f"//{tag}[@class='{{name}}']/@data-{mine}", str)


def meta(draft: Draft) -> Part:
    html = '<meta name="{name}" content="{value}">'
    return _attribute(draft, html, "//meta[@name='{name}']/@content", str, head=True)


def microdata(draft: Draft) -> Part:
    html = '<div itemscope itemtype="https://schema.org/Product"><meta itemprop="{name}" content="{value}"></div>'
    return _attribute(draft, html, "//meta[@itemprop='{name}']/@content", str)


def link(draft: Draft) -> Part:
    """To a file, with the same words each time."""
    html, path = '<a class="{name}" href="{value}">x</a>', "//a[@class='{name}']/@href"
    host, file = draft.word(), _file(draft, "zip", "pdf", "exe")
    return _attribute(draft, html, path, lambda code: f"http://{host}.example{file(code)}")


def json_ld(draft: Draft) -> Part:
    draft.take("//h1/text()", "//script[@type='application/ld+json']/text()")

    def show(thing: str, variant: str) -> Shown:
        chance = draft.of(thing, variant)
        data = {"@context": "https://schema.org", "@type": "Product", "offers": {"price": _amount(chance)}}
        text = json.dumps(data)
        return Shown("", text, f'<script type="application/ld+json">{text}</script>')

    return show


def script_state(draft: Draft) -> Part:
    """A shell that a script fills: nothing to read, all data in the script."""
    app, variable, field = draft.words(3)
    draft.take("//h1/text()", f"//script[contains(., '{variable}')]/text()")

    def show(thing: str, variant: str) -> Shown:
        text = f"window.{variable} = {json.dumps({field: draft.prose(40, thing, variant)})};"
        return Shown(f'<div id="{app}"></div><script>{text}</script>', text, bare=True)

    return show


def table_cell(draft: Draft) -> Part:
    name = draft.word()
    columns, rows = draft.chance.randint(3, 6), draft.chance.randint(4, 9)
    draft.take("//h1/text()", f"//table[@class='{name}']//td/text()")

    def show(thing: str, variant: str) -> Shown:
        of_thing = draft.of(thing)
        cells = [str(of_thing.randint(10, 99)) for _ in range(columns * rows)]
        cells[of_thing.randrange(len(cells))] = str(draft.of(thing, variant).randint(100, 99999))
        return _table(name, [cells[n : n + columns] for n in range(0, len(cells), columns)])

    return show


def column_order(draft: Draft) -> Part:
    """The same cells, in other columns: which column a number stands in is what it means."""
    name = draft.word()
    columns, rows = draft.chance.randint(5, 7), draft.chance.randint(4, 9)
    draft.take("//h1/text()", f"//table[@class='{name}']//td/text()")
    known: dict[str, int] = {}

    def show(thing: str, variant: str) -> Shown:
        shift = known.setdefault(variant, len(known))
        of_thing = draft.of(thing)
        lines = [[str(of_thing.randint(1000, 9999)) for _ in range(columns)] for _ in range(rows)]
        return _table(name, [line[shift:] + line[:shift] for line in lines])

    return show


def _table(name: str, lines: list[list[str]]) -> Shown:
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    return Shown(f'<table class="{name}">{rows}</table>', " | ".join(cell for line in lines for cell in line))


def language(draft: Draft) -> Part:
    tag, name = draft.element()
    draft.take("//h1/text()", f"//{tag}[@class='{name}']/text()")

    def show(thing: str, variant: str) -> Shown:
        text = draft.prose(80, thing, variant)
        return Shown(f'<{tag} class="{name}">{text}</{tag}>', text, bare=True)

    return show


def currency(draft: Draft) -> Part:
    tag, name = draft.element()
    signs, known = draft.words(9), dict[str, int]()
    draft.take("//h1/text()", f"//{tag}[@class='{name}']/text()")

    def show(thing: str, variant: str) -> Shown:
        number = known.setdefault(variant, len(known))
        value = f"{draft.of(thing).randint(100, 9999) * (number + 3) / 100:.2f} {signs[number]}"
        return Shown(f'<{tag} class="{name}">{value}</{tag}>', value)

    return show


def version(draft: Draft) -> Part:
    """A manual of which each version changes a few sentences."""
    name = draft.word()
    draft.take("//h1/text()", f"//p[@class='{name}']/text()")
    length = draft.chance.randint(12, 30)

    def show(thing: str, variant: str) -> Shown:
        lines = [draft.prose(20, thing, n) for n in range(length)]
        chance = draft.of(thing, variant)
        lines[chance.randrange(length)] = draft.prose(20, thing, variant)
        return Shown("".join(f'<p class="{name}">{line}</p>' for line in lines), " | ".join(lines), bare=True)

    return show


#: Parts by the names of their families.
PARTS: dict[str, Callable[[Draft], Part]] = {
    part.__name__: part
    for part in (
        price, six_prices, stock, digit, picture, srcset, background, audio, video, poster, iframe, hidden_field,
        visible_field, option, data_attribute, meta, microdata, link, json_ld, script_state, table_cell, column_order,
        language, currency, version,
    )
}  # fmt: skip
