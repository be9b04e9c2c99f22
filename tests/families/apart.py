"""Sites with pages that must be told apart: evidence.md §5. Each function draws one from chance."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

from tests.crawl.site import Answer
from tests.families.drafting import Draft, Fetch, Item, Web
from tests.families.parts import PARTS, Part

Family = Callable[[Draft], Web]


def differing_in(part: Callable[[Draft], Part]) -> Family:
    """Things with variants that differ in *part* and nothing else, beside some that do not differ at all."""

    def draw(draft: Draft) -> Web:
        address, show = draft.address(), part(draft)
        things, variants = draft.words(draft.chance.randint(16, 26)), draft.values(draft.chance.randint(3, 4))
        for thing in things:
            for variant in variants:
                shown, title = show(thing, variant), f"<h1>{thing}</h1>"
                text = "" if shown.bare else _text(draft, thing)
                answer = draft.html(f"{title}{text}{shown.main}{text[:200] and '<hr>'}", shown.head)
                draft.add(address(thing, variant), (thing, variant), (thing, shown.taken), answer)
        return draft.web()

    return draw


def _text(draft: Draft, thing: str, least: int = 400, most: int = 1200) -> str:
    return f"<p>{draft.prose(draft.of('length', thing).randint(least, most), thing)}</p>"


def _products(draft: Draft, number: int) -> list[tuple[str, str]]:
    """Names and paths of pages that are different in every way."""
    folder, made = draft.word(), []
    draft.take("//h1/text()", begins=f"/{folder}/")
    for name in draft.words(number):
        path = f"/{folder}/{name}"
        draft.add(path, name, (name,), draft.html(f"<h1>{name}</h1><p>{draft.prose(80, name)}</p>"))
        made.append((name, path))
    return made


def _lists(
    draft: Draft, entry: Callable[[str, str], str], takes: Callable[[str], str], text: str = ""
) -> Web:
    """Lists of categories in pages; *entry* shows one product of a list, *takes* is what a spider reads of it."""
    products, kind = _products(draft, draft.chance.randint(40, 60)), draft.word()
    address = draft.address()
    size = draft.chance.randint(5, 9)
    draft.take("//h2/text()", takes(kind), begins=address.begins)
    for category in draft.words(draft.chance.randint(6, 10)):
        for number in draft.values(draft.chance.randint(3, 5)):
            chosen = draft.chance.sample(products, size)
            rows = "".join(f'<li class="{kind}">{entry(*one)}</li>' for one in chosen)
            answer = draft.html(f"<h2>{category}</h2><ul>{rows}</ul>{text}")
            taken = " | ".join(path if "@href" in takes(kind) else name for name, path in chosen)
            draft.add(address(category, number), (category, number), (category, taken), answer)
    return draft.web()


def thumbnails(draft: Draft) -> Web:
    """Lists with equal words; other pictures and links."""
    folder, caption = draft.words(2)
    return _lists(
        draft,
        lambda name, path: f'<a href="{path}"><img src="/{folder}/{name}.jpg">{caption}</a>',
        lambda kind: f"//li[@class='{kind}']/a/@href",
    )


def pagination(draft: Draft) -> Web:
    """Lists with equal words whose links alone differ."""
    caption = draft.word()
    return _lists(
        draft,
        lambda name, path: f'{caption} <a href="{path}">{caption}</a>',
        lambda kind: f"//li[@class='{kind}']/a/@href",
        f"<p>{draft.prose(60)}</p>",
    )


def category(draft: Draft) -> Web:
    """A few products in long prose that all lists have."""
    return _lists(
        draft,
        lambda name, path: f'<a href="{path}">{name}</a>',
        lambda kind: f"//li[@class='{kind}']/a/text()",
        f"<p>{draft.prose(600)}</p>",
    )


def _sometimes(draft: Draft, differs: Callable[[int, int], bool], things: int, variants: int) -> Web:
    """Things of which a parameter changes some: thing and variant by number."""
    address, show = draft.address(), PARTS[draft.chance.choice(["price", "stock", "picture"])](draft)
    values = draft.values(variants)
    for number, thing in enumerate(draft.words(things)):
        text = _text(draft, thing, 60, 200)
        for place, value in enumerate(values):
            which = value if differs(number, place) else values[0]
            shown = show(thing, which)
            answer = draft.html(f"<h1>{thing}</h1>{text}{shown.main}", shown.head)
            draft.add(address(thing, value), (thing, which), (thing, shown.taken), answer)
    return draft.web()


def rare(draft: Draft) -> Web:
    """A parameter that matters for two pages of a hundred."""
    things = draft.chance.randint(48, 60)
    special = set(draft.chance.sample(range(things), max(1, round(things * 0.02))))
    return _sometimes(draft, lambda thing, _: thing in special, things, 3)


def one_value(draft: Draft) -> Web:
    """A parameter of which one value of many matters."""
    variants = draft.chance.randint(5, 7)
    special = draft.chance.randrange(1, variants)
    return _sometimes(draft, lambda _, variant: variant == special, draft.chance.randint(20, 26), variants)


def one_path(draft: Draft) -> Web:
    """A parameter that matters below one folder of several."""
    folders, name, values = draft.words(4), draft.word(), draft.values(3)
    show = PARTS[draft.chance.choice(["price", "stock", "picture"])](draft)
    special = draft.chance.choice(folders)
    for folder in folders:
        for thing in draft.words(draft.chance.randint(8, 14)):
            text = _text(draft, thing, 60, 200)
            for value in values:
                which = value if folder == special else values[0]
                shown = show(thing, which)
                answer = draft.html(f"<h1>{thing}</h1>{text}{shown.main}", shown.head)
                draft.add(f"/{folder}/{thing}?{name}={value}", (thing, which), (thing, shown.taken), answer)
    return draft.web()


def together(draft: Draft) -> Web:
    """Two parameters, of which the one matters only with one value of the other."""
    path, one, other = draft.words(3)
    ones, others = draft.values(3), draft.values(3)
    show = PARTS[draft.chance.choice(["price", "stock"])](draft)
    special = draft.chance.choice(others)
    for thing in draft.words(draft.chance.randint(10, 14)):
        text = _text(draft, thing, 60, 200)
        for a in ones:
            for b in others:
                which = a if b == special else "-"
                shown = show(thing, which)
                answer = draft.html(f"<h1>{thing}</h1>{text}{shown.main}", shown.head)
                draft.add(
                    f"/{path}/{thing}?{one}={a}&{other}={b}", (thing, which), (thing, shown.taken), answer
                )
    return draft.web()


def long_lists(draft: Draft) -> Web:
    """Orders of lists that show the first few only: of short lists all orders are one page."""
    path, name, kind = draft.words(3)
    orders, limit = draft.values(3), draft.chance.randint(5, 8)
    draft.take("//h1/text()", f"//li[@class='{kind}']/text()")
    for number, thing in enumerate(draft.words(draft.chance.randint(24, 30))):
        entries = draft.words(limit * 3 if number % 6 == 0 else draft.chance.randint(2, limit))
        for order in orders:
            first = sorted(entries, key=lambda entry: draft.of(order, entry).random())
            shown = sorted(first[:limit])
            rows = "".join(f'<li class="{kind}">{entry}</li>' for entry in shown)
            answer = draft.html(f"<h1>{thing}</h1>{_text(draft, thing, 30, 60)}<ul>{rows}</ul>")
            item = (thing, " | ".join(shown))
            draft.add(f"/{path}/{thing}?{name}={order}", item, item, answer)
    return draft.web()


def callbacks(draft: Draft) -> Web:
    """The same text at two addresses; the spider reads the one in one way, the other in another."""
    folders, (tag, name) = draft.words(2), draft.element()
    draft.take("//h1/text()", begins=f"/{folders[0]}/")
    draft.take("//h1/text()", f"//{tag}[@class='{name}']/text()", begins=f"/{folders[1]}/")
    for thing in draft.words(draft.chance.randint(24, 36)):
        value = draft.prose(3, thing, "value")
        answer = draft.html(
            f'<h1>{thing}</h1>{_text(draft, thing, 80, 200)}<{tag} class="{name}">{value}</{tag}>'
        )
        draft.add(f"/{folders[0]}/{thing}", (0, thing), (thing,), answer)
        draft.add(f"/{folders[1]}/{thing}", (1, thing), (thing, value), answer)
    return draft.web()


def _walled(share: float, words: int) -> Family:
    """Pages of which a share shows a wall when they are asked for the first time; the spider asks again."""

    def draw(draft: Draft) -> Web:
        address, wall = draft.address(), draft.word()
        draft.take("//h1/text()")
        draft.wall = f"//form[@class='{wall}']"
        closed = draft.html(f'<p>{draft.prose(words)}</p><form class="{wall}"><input type="submit"></form>')
        values = draft.values(3)
        for thing in draft.words(draft.chance.randint(16, 24)):
            for value in values:
                name = f"{thing} {draft.word()}"
                page = draft.html(f"<h1>{name}</h1>{_text(draft, name, 80, 200)}")
                first = closed if draft.of(thing, value).random() < share else page
                draft.add(address(thing, value), name, (name,), _first_then(first, page))
        return draft.web()

    return draw


def _first_then(first: Answer, then: Answer) -> Callable[[Fetch], Answer]:
    return lambda fetch: then if fetch.times else first


def soft_404(draft: Draft) -> Web:
    """Most combinations are not there, and all say so in the same words and with status 200."""
    address, missing = draft.address(), draft.html(f"<p>{draft.prose(40)}</p>")
    values = draft.values(4)
    draft.take("//h1/text()")
    for thing in draft.words(draft.chance.randint(20, 28)):
        for value in values:
            name = f"{thing} {draft.word()}"
            there = draft.chance.random() < 0.35
            page = draft.html(f"<h1>{name}</h1>{_text(draft, name, 80, 200)}") if there else missing
            draft.add(address(thing, value), name if there else "missing", (name,) if there else None, page)
    return draft.web()


def _thin(draft: Draft, show: Callable[[str, str], tuple[str, Item]]) -> Web:
    """Pages that hold next to nothing but parts of their own addresses: album and number."""
    path, album, number = draft.words(3)
    for a in range(1, draft.chance.randint(14, 20)):
        for n in range(1, draft.chance.randint(4, 6)):
            main, item = show(str(a), str(n))
            draft.add(f"/{path}?{album}={a}&{number}={n}", (a, n), item, draft.html(main))
    return draft.web()


def photos(draft: Draft) -> Web:
    folder, kind = draft.words(2)
    draft.take(f"//img[@class='{kind}']/@src")

    def show(album: str, number: str) -> tuple[str, Item]:
        source = f"/{folder}/{album}-{number}.jpg"
        return f'<img class="{kind}" src="{source}">', (source,)

    return _thin(draft, show)


def own_links(draft: Draft) -> Web:
    """Pages with one text, and a link each that is made of what stands in their own addresses."""
    folder, kind, text = *draft.words(2), draft.prose(80)
    host = draft.word()
    draft.take(f"//a[@class='{kind}']/@href")

    def show(album: str, number: str) -> tuple[str, Item]:
        target = f"http://{host}.example/{folder}/{album}/{number}.zip"
        return f'<p>{text}</p><a class="{kind}" href="{target}">x</a>', (target,)

    return _thin(draft, show)


def own_ids(draft: Draft) -> Web:
    """Pages with one text, and what stands in their addresses in every attribute; one of them is what the page is about."""
    kind, field, wide, text = *draft.words(3), draft.prose(80)
    draft.take(f"//form[@class='{kind}']/input/@value")

    def show(album: str, number: str) -> tuple[str, Item]:
        code = f"{album}-{number}"
        main = (
            f'<div id="{wide}{code}" data-{wide}="{code}"><p>{text}</p><form class="{kind}" id="f{code}">'
            f'<input name="{field}" value="{code}"></form></div>'
        )
        return main, (code,)

    return _thin(draft, show)


def binaries(draft: Draft) -> Web:
    """Files that differ in their metadata only."""
    address, kind = draft.address(), draft.chance.choice(["application/pdf", "application/zip", "image/png"])
    values = draft.values(3)
    for thing in draft.words(draft.chance.randint(16, 24)):
        for value in values:
            body = (
                b"%PDF-1.4\n%\x00\xe2\n" + draft.prose(200, thing).encode() + b"\n%" + draft.word().encode()
            )
            item = (hashlib.sha1(body).hexdigest(),)
            draft.add(address(thing, value), (thing, value), item, Answer(body, 200, {"Content-Type": kind}))
    return draft.web()


def folders(draft: Draft) -> Web:
    """Tenants of one site: what tells their pages apart is another parameter for each."""
    names = draft.words(2)
    draft.take("//h1/text()")
    for folder, matters in zip(draft.words(4), [0, 0, 0, 1], strict=True):
        for thing in draft.words(draft.chance.randint(4, 6)):
            for one in draft.values(3):
                for other in range(2):
                    which = (one, str(other))[matters]
                    name = f"{thing} {which}"
                    page = draft.html(f"<h1>{name}</h1>{_text(draft, thing, 300, 600)}")
                    path = f"/{folder}/{thing}?{names[0]}={one}&{names[1]}={other}"
                    draft.add(path, (folder, name), (name,), page)
    return draft.web()


_OTHERS: Sequence[Family] = (
    thumbnails, pagination, category, rare, one_value, one_path, together, long_lists, callbacks, soft_404, photos,
    own_links, own_ids, binaries, folders,
)  # fmt: skip

#: Families by name.
APART: dict[str, Family] = {
    **{name: differing_in(part) for name, part in PARTS.items()},
    **{family.__name__: family for family in _OTHERS},
    "cookie_wall": _walled(1.0, 40),
    "captcha": _walled(0.3, 25),
    "session_expired": _walled(0.15, 12),
}
