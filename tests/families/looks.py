"""Pages that differ in how they look, in what they say of themselves, or in where a link leads within them; and pages that
are one although they look otherwise at each fetch or name their own addresses. Each function draws one site from chance.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.crawl.site import Answer
from tests.families.apart import Family, differing_in
from tests.families.drafting import Draft, Fetch, Web, escaped
from tests.families.parts import Part, Shown

#: Puts a value that belongs to a thing and a variant into the HTML of a page.
Put = Callable[[Answer, str], Answer]


def _word(draft: Draft, *names: object) -> str:
    return draft.prose(2, *names).replace(" ", "")


def _in_tag(pattern: str, text: str) -> Put:
    """Put a value into *text*, in the place of what *pattern* matches."""

    def put(answer: Answer, value: str) -> Answer:
        body = re.sub(pattern, text.replace("{}", value), answer.body.decode(), count=1)
        return Answer(body.encode(), answer.status, answer.headers)

    return put


def _document(put: Put, path: str, shown: Callable[[Draft, str, str], str] = _word) -> Family:
    """Things whose variants differ in the tags around the whole document."""

    def draw(draft: Draft) -> Web:
        address, values = draft.address(), draft.values(3)
        draft.take("//h1/text()", path)
        for thing in draft.words(18):
            for variant in values:
                value = shown(draft, thing, variant)
                answer = put(draft.html(f"<h1>{thing}</h1><p>{draft.prose(90, thing)}</p>"), value)
                draft.add(address(thing, variant), (thing, value), (thing, value), answer)
        return draft.web()

    return draw


def _part(html: str, path: str, value: Callable[[Draft, str, str], str], *, head: bool = False) -> Family:
    """Things whose variants differ in one element."""

    def part(draft: Draft) -> Part:
        name = draft.word()
        draft.take("//h1/text()", path.format(name=name))

        def show(thing: str, variant: str) -> Shown:
            filled = value(draft, thing, variant)
            text = html.replace("{name}", name).replace("{value}", filled)
            return Shown("" if head else text, filled, text if head else "")

        return show

    return differing_in(part)


def _either(first: str, second: str) -> Callable[[Draft, str, str], str]:
    """One of two values, by lot."""
    return lambda draft, thing, variant: draft.of(thing, variant).choice((first, second))


def _number(draft: Draft, thing: str, variant: str) -> str:
    return str(draft.of(thing, variant).randrange(100, 10**6))


def _hue(draft: Draft, thing: str, variant: str) -> str:
    return _word(draft, thing, variant, "hue")


def swapped_looks(draft: Draft) -> Part:
    """Which of two seats is taken, as their colours say."""
    name = draft.word()
    colours = draft.words(2)
    draft.take("//h1/text()", f"//i[@class='{name}']/@style")

    def show(thing: str, variant: str) -> Shown:
        order = draft.of(thing, variant).sample(colours, 2)
        seats = "".join(
            f'<i class="{name}" style="color:{colour}">{seat}</i>'
            for seat, colour in zip("AB", order, strict=True)
        )
        return Shown(f"<div>{seats}</div>", " | ".join(f"color:{colour}" for colour in order))

    return show


def fractions(draft: Draft) -> Part:
    """A fraction, or the other one that its two parts make."""
    draft.take("//h1/text()", "//mfrac/mn/text()")

    def show(thing: str, variant: str) -> Shown:
        numbers = draft.of(thing).sample(range(100, 999), 2)
        order = draft.of(thing, variant).sample(numbers, 2)
        parts = "".join(f"<mn>{number}</mn>" for number in order)
        return Shown(f"<math><mfrac>{parts}</mfrac></math>", " | ".join(map(str, order)))

    return show


def texts_of_numbers(draft: Draft) -> Part:
    """A number in a script, or the text of its digits."""
    name = draft.word()
    start = f'"{name}": '
    draft.take("//h1/text()", f"substring-before(substring-after(//script, '{start}'), ',')")

    def show(thing: str, variant: str) -> Shown:
        number = draft.of(thing).randrange(10**5)
        said = draft.of(thing, variant).choice((f"{number}", f'"{number}"'))
        text = f'<script type="application/json">{{{start}{said}, "x": 1}}</script>'
        return Shown(text, said)

    return show


def _style(name: str) -> str:
    """The path of what the style of an element says of *name*."""
    said = f"substring-after(//p[@class='{{name}}']/@style, '{name}:')"
    return f"translate({said}, 'px', '')" if name == "left" else said


#: Pages that must be told apart.
APART_IN_LOOKS: dict[str, Family] = {
    "body_class": _document(_in_tag("<body>", '<body class="page {}">'), "substring(//body/@class, 6)"),
    "body_id": _document(_in_tag("<body>", '<body id="{}">'), "//body/@id"),
    "html_class": _document(_in_tag("<html>", '<html class="{}">'), "/html/@class"),
    "numbered_class": _part(
        '<p class="{name} sku-{value}">x</p>',
        "substring-after(//p[starts-with(@class, '{name}')]/@class, '-')",
        _number,
    ),
    "canonical_target": _part(
        '<link rel="canonical" class="{name}" href="/c/{value}">',
        "substring(//link[@class='{name}']/@href, 4)",
        _hue,
        head=True,
    ),
    "alternate_target": _part(
        '<link rel="alternate" hreflang="de" class="{name}" href="/c/{value}">',
        "substring(//link[@class='{name}']/@href, 4)",
        _hue,
        head=True,
    ),
    "alternate_language": _part(
        '<link rel="alternate" class="{name}" hreflang="{value}" href="/other">',
        "//link[@class='{name}']/@hreflang",
        _either("de", "fr"),
        head=True,
    ),
    "sprite": _part(
        '<svg class="{name}"><use xlink:href="/s.svg#{value}"/></svg>',
        "substring-after(//svg[@class='{name}']/use/@*, '#')",
        _hue,
    ),
    "spot": _part(
        '<a class="{name}" href="#{value}">x</a>', "substring(//a[@class='{name}']/@href, 2)", _hue
    ),
    "style_display": _part(
        '<p class="{name}" style="display:{value}">x</p>', _style("display"), _either("none", "block")
    ),
    "style_left": _part('<p class="{name}" style="left:{value}px">x</p>', _style("left"), _number),
    "style_color": _part('<p class="{name}" style="color:{value}">x</p>', _style("color"), _hue),
    "style_order": _part('<p class="{name}" style="order:{value}">x</p>', _style("order"), _number),
    "swapped_looks": differing_in(swapped_looks),
    "fractions": differing_in(fractions),
    "texts_of_numbers": differing_in(texts_of_numbers),
}


def _addresses(
    head: Callable[[Draft, str, str], str], body: Callable[[Draft, Fetch], str] = lambda *_: ""
) -> Family:
    """Things with several addresses; *head* gives what the page of an address has of its own in its head."""

    def draw(draft: Draft) -> Web:
        folder, name = draft.words(2)
        values = draft.values(3)
        draft.take("//h1/text()")
        for thing in draft.words(24):
            paths = [f"/{folder}/{thing}?{name}={value}" for value in values]
            for path in paths:
                said = head(draft, path, paths[0])
                draft.add(path, thing, (thing,), _with(draft, thing, said, body))
        return draft.web()

    return draw


def _with(
    draft: Draft, thing: str, head: str, body: Callable[[Draft, Fetch], str]
) -> Callable[[Fetch], Answer]:
    main = f"<h1>{thing}</h1><p>{draft.prose(90, thing)}</p>"
    return lambda fetch: _in_tag("<body>", f"<body{body(draft, fetch)}>")(draft.html(main, head), "")


def _canonical(begin: str) -> Callable[[str], str]:
    return lambda path: f'<link rel="canonical" href="{begin}{escaped(path)}">'


#: Pages that must be seen to be one.
ONE_IN_LOOKS: dict[str, Family] = {
    "canonical_of_all": _addresses(lambda draft, path, first: _canonical("")(first)),
    "canonical_of_itself": _addresses(lambda draft, path, first: _canonical("")(path)),
    "canonical_elsewhere": _addresses(
        lambda draft, path, first: _canonical("https://www.other.example")(path)
    ),
    "canonical_of_others": _addresses(
        lambda draft, path, first: "" if path == first else _canonical("https://www.other.example")(first)
    ),
    "changing_class": _addresses(
        lambda draft, path, first: "",
        lambda draft, fetch: f' class="page s-{fetch.chance.getrandbits(32):08x}"',
    ),
    "changing_style": _addresses(
        lambda draft, path, first: "",
        lambda draft, fetch: f' style="--delay:{fetch.chance.random():.3f}s;color:red"',
    ),
}
