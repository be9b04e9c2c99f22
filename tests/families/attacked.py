"""Sites on which items were lost: pages that must be told apart, as `apart` has them. Each function draws one from chance."""

from __future__ import annotations

from collections.abc import Callable

from tests.crawl.site import Answer, redirect
from tests.families.apart import Family, differing_in
from tests.families.drafting import Draft, Fetch, Web, escaped
from tests.families.looks import APART_IN_LOOKS
from tests.families.parts import Part, Shown, _amount, _attribute, _table

_SIGNS = "这是一个关于产品的说明文字我们在里写下许多不同汉用来测试网页内容否相同大小颜色重量长度宽高价格时间地点人物"


def _signs(draft: Draft, number: int, *names: object) -> str:
    chance = draft.of("signs", *names)
    return "".join(chance.choice(_SIGNS) for _ in range(number))


def _chinese(value: Callable[[Draft, str, str], str]) -> Family:
    """A shop in Chinese whose variants differ in one short text."""

    def draw(draft: Draft) -> Web:
        folder, name, kind = draft.words(3)
        draft.take("//h1/text()", f"//b[@class='{kind}']/text()")
        values = draft.values(3)
        for number in range(100, 116):
            title = _signs(draft, 5, number)
            text = f"<h1>{title}</h1><p>{_signs(draft, 200, number, 'text')}。</p>"
            for variant in values:
                shown = value(draft, str(number), variant)
                answer = draft.html(f'{text}<b class="{kind}">{shown}</b>')
                draft.add(f"/{folder}/{number}?{name}={variant}", (number, variant), (title, shown), answer)
        return draft.web()

    return draw


def _one_of(*shown: str) -> Callable[[Draft, str, str], str]:
    """For each variant of the site another of *shown*."""
    known: dict[tuple[str, str], int] = {}

    def value(draft: Draft, thing: str, variant: str) -> str:
        mine = [key for key in known if key[0] == draft.seed]
        return shown[known.setdefault((draft.seed, variant), len(mine)) % len(shown)]

    return value


def _of_values(html: str, path: str, *shown: str) -> Callable[[Draft], Part]:
    """A part that is one of *shown* for each variant."""

    def part(draft: Draft) -> Part:
        name, value = draft.word(), _one_of(*shown)
        draft.take("//h1/text()", path.format(name=name))
        return lambda thing, variant: _filled(html, name, value(draft, thing, variant))

    return part


def _filled(html: str, name: str, value: str) -> Shown:
    return Shown(html.format(name=name, value=value), value)


def _in_attribute(
    html: str, path: str, value: Callable[[str], str] = str, *, head: bool = False
) -> Callable[[Draft], Part]:
    return lambda draft: _attribute(draft, html, path, value, head=head)


def disabled_button(draft: Draft) -> Part:
    """What is not in stock cannot be bought, and says no more."""
    name, value = draft.word(), _one_of("disabled", "enabled", "disabled hidden")
    draft.take("//h1/text()", f"name(//button[@class='{name}']/@*[2])")

    def show(thing: str, variant: str) -> Shown:
        word = {"disabled": "disabled", "enabled": "autofocus"}.get(value(draft, thing, variant), "hidden")
        return Shown(f'<button class="{name}" {word}>Buy</button>', word)

    return show


def empty_stars(draft: Draft) -> Part:
    """A rating of so many elements without text."""
    name, value = draft.word(), _one_of("1", "2", "3", "4")
    draft.take("//h1/text()", f"string(count(//p[@class='{name}']/i))")

    def show(thing: str, variant: str) -> Shown:
        number = value(draft, thing, variant)
        return Shown(f'<p class="{name}">{"<i></i>" * int(number)}</p>', number)

    return show


def ticked_column(draft: Draft) -> Part:
    """A table of which one cell of each row says yes and all others are empty."""
    name, value = draft.word(), _one_of("0", "1", "2", "3")
    draft.take("//h1/text()", f"string(count(//table[@class='{name}']//td[text()]/preceding-sibling::td))")

    def show(thing: str, variant: str) -> Shown:
        number = value(draft, thing, variant)
        cells = ["yes" if place == int(number) else "" for place in range(4)]
        return _table(name, [cells])._replace(taken=number)

    return show


def picture_order(draft: Draft) -> Part:
    """The first of three pictures is what a spider takes."""
    name, value = draft.word(), _one_of("0", "1", "2")
    draft.take("//h1/text()", f"//div[@class='{name}']/img[1]/@src")

    def show(thing: str, variant: str) -> Shown:
        first = int(value(draft, thing, variant))
        files = [f"/{thing}/{(first + place) % 3}.jpg" for place in range(3)]
        return Shown(f'<div class="{name}">{"".join(f"<img src={file}>" for file in files)}</div>', files[0])

    return show


def ranking(draft: Draft) -> Part:
    """Three runners in the order in which they came in."""
    name, value, runners = draft.word(), _one_of("0", "1", "2"), draft.words(3)
    draft.take("//h1/text()", f"//ol[@class='{name}']/li/text()")

    def show(thing: str, variant: str) -> Shown:
        first = int(value(draft, thing, variant))
        order = runners[first:] + runners[:first]
        return Shown(
            f'<ol class="{name}">{"".join(f"<li>{one}</li>" for one in order)}</ol>', " | ".join(order)
        )

    return show


def _own(html: str, path: str) -> Family:
    """Products of which a colour is named by the URL and by one field or script, and by nothing else."""

    def draw(draft: Draft) -> Web:
        folder, name, field = draft.words(3)
        draft.take("//h1/text()", path.format(name=field))
        colours = draft.words(3)
        for thing in draft.words(16):
            for colour in colours:
                main = (
                    f"<h1>{thing}</h1><p>{draft.prose(100, thing)}</p>{html.format(name=field, value=colour)}"
                )
                draft.add(
                    f"/{folder}/{thing}?{name}={colour}", (thing, colour), (thing, colour), draft.html(main)
                )
        return draft.web()

    return draw


def _canonical(text: Callable[[Draft, str, str], str]) -> Family:
    """Pages that name one of them in ``rel=canonical``, and differ in one text."""

    def draw(draft: Draft) -> Web:
        folder, name, kind = draft.words(3)
        draft.take("//h1/text()", f"//b[@class='{kind}']/text()")
        values = draft.values(3)
        for thing in draft.words(16):
            head = f'<link rel="canonical" href="/{folder}/{thing}?{name}={values[0]}">'
            for value in values:
                shown = text(draft, thing, value)
                main = f'<h1>{thing}</h1><p>{draft.prose(100, thing)}</p><b class="{kind}">{shown}</b>'
                draft.add(
                    f"/{folder}/{thing}?{name}={value}",
                    (thing, value),
                    (thing, shown),
                    draft.html(main, head),
                )
        return draft.web()

    return draw


def _links_to(target: Callable[[Draft], Answer], number: int = 3) -> Family:
    """Lists of so many links that differ in these only; all that is linked gives one answer."""

    def draw(draft: Draft) -> Web:
        folder, there, name, kind = draft.words(4)
        draft.take("//h1/text()", f"//a[@class='{kind}']/@href", begins=f"/{folder}/")
        end, values = target(draft), draft.values(3)
        lists: list[str] = []
        for thing in draft.words(16):
            for value in values:
                links = [f"/{there}/{draft.of(thing, value, n).randrange(10**6)}" for n in range(number)]
                for link in links:
                    draft.add(link, "end", None, end)
                rows = "".join(f'<a class="{kind}" href="{link}">x</a>' for link in links)
                lists.append(f"/{folder}/{thing}?{name}={value}")
                answer = draft.html(f"<h1>{thing}</h1><p>{draft.prose(100, thing)}</p>{rows}")
                draft.add(lists[-1], (thing, value), (thing, " | ".join(links)), answer)
        return draft.web(lists)

    return draw


def _to_login(draft: Draft) -> Answer:
    where = f"/{draft.word()}"
    draft.add(where, "login", None, draft.html(f"<p>{draft.prose(12)}</p><form><input name=u></form>"))
    return redirect(where)


def relative_links(draft: Draft) -> Web:
    """Folders of equal bytes, whose relative links lead to other pages."""
    folder, names = draft.word(), draft.words(2)
    draft.take("//h1/text()")
    anchors = "".join(f'<a href="{name}">x</a>' for name in names)
    same, linked = draft.html(f"<h2>x</h2><p>{draft.prose(60)}</p>{anchors}"), []
    for thing in draft.words(16):
        linked.append(f"/{folder}/{thing}/")
        draft.add(linked[-1], thing, None, same)
        for name in names:
            title = f"{thing} {name}"
            draft.add(
                linked[-1] + name, title, (title,), draft.html(f"<h1>{title}</h1><p>{draft.prose(70)}</p>")
            )
    return draft.web(linked)


def encodings(draft: Draft) -> Web:
    """Equal bytes that are said to be in another encoding."""
    address, values = draft.address(), draft.values(3)
    draft.take("//h1/text()", "//b/text()")
    for thing in draft.words(16):
        word = bytes(draft.of(thing, n).randrange(0xC0, 0xFF) for n in range(8))
        text = f"<html><body><h1>{thing}</h1><p>{draft.prose(80, thing)}</p><b>".encode() + word + b"</b>"
        for value, name in zip(values, ("cp1251", "koi8-r", "iso-8859-1"), strict=True):
            answer = Answer(text, 200, {"Content-Type": f"text/html; charset={name}"})
            # Browsers and w3lib read Latin-1 as Windows' own encoding; above C0 they agree.
            draft.add(address(thing, value), (thing, value), (thing, word.decode(name)), answer)
    return draft.web()


def xml_tags(draft: Draft) -> Web:
    """Documents whose only difference is the name of an empty element."""
    address, values = draft.address(), draft.values(3)
    draft.take("//name/text()", "name(/r/*[3])")
    for thing in draft.words(16):
        for value, tag in zip(values, ("won", "lost", "draw"), strict=True):
            text = f'<?xml version="1.0"?><r><name>{thing}</name><t>{draft.prose(40, thing)}</t><{tag}/></r>'
            answer = Answer(text.encode(), 200, {"Content-Type": "application/xml"})
            draft.add(address(thing, value), (thing, value), (thing, tag), answer)
    return draft.web()


def sitemaps(draft: Draft) -> Web:
    """Sitemaps whose days have moved among their pages."""
    address, values = draft.address(), draft.values(3)
    draft.take("//*[local-name()='loc']/text()", "//*[local-name()='lastmod']/text()")
    for thing in draft.words(20):
        links = [f"http://{thing}.example/{draft.word()}" for _ in range(5)]
        days = [f"2024-{draft.of(thing, day).randint(1, 12):02}-{day + 1:02}" for day in range(5)]
        for number, value in enumerate(values):
            shown = days[number:] + days[:number]
            rows = (
                f"<url><loc>{link}</loc><lastmod>{day}</lastmod></url>"
                for link, day in zip(links, shown, strict=True)
            )
            text = f'<?xml version="1.0"?><urlset>{"".join(rows)}</urlset>'
            answer = Answer(text.encode(), 200, {"Content-Type": "application/xml"})
            draft.add(address(thing, value), (thing, value), (" | ".join(links), " | ".join(shown)), answer)
    return draft.web()


def own_items(draft: Draft) -> Web:
    """Pages of two folders that link an item each, which nobody follows, with the page's own parameter."""
    folders, (item, name, own, kind) = draft.words(2), draft.words(4)
    values = draft.values(3)
    draft.take("//h1/text()", f"//area[@class='{kind}']/@href")
    for folder in folders:
        for thing in draft.words(12):
            for number, value in enumerate(values):
                link = f"/{item}?{name}={number}&{own}={value}"
                main = f"<h1>{thing}</h1><p>{draft.prose(100, thing)}</p>"
                answer = draft.html(f'{main}<area class="{kind}" href="{escaped(link)}">')
                draft.add(f"/{folder}/{thing}?{own}={value}", (thing, value), (thing, link), answer)
    return draft.web()


def swapped_numbers(draft: Draft) -> Part:
    """Four numbers in a line, in another order."""
    name, value = draft.word(), _one_of("0", "1", "2", "3")
    draft.take("//h1/text()", f"//p[@class='{name}']//i/text()")

    def show(thing: str, variant: str) -> Shown:
        first = int(value(draft, thing, variant))
        numbers = [str(number) for number in draft.of(thing).sample(range(100, 999), 4)]
        numbers = numbers[first:] + numbers[:first]
        line = " ".join(f"<i>{number}</i>" for number in numbers)
        return Shown(f'<p class="{name}">{draft.classes[0]} <b>{line}</b></p>', " | ".join(numbers))

    return show


def price_beside_clock(draft: Draft) -> Web:
    """A price in one sentence with the time at which it was asked for."""
    address, (tag, kind) = draft.address(), draft.element()
    draft.take("//h1/text()", f"substring-before(//{tag}[@class='{kind}'], ' ')")
    values = draft.values(3)
    for thing in draft.words(16):
        for value in values:
            price = _amount(draft.of(thing, value))
            start = (
                f"<h1>{thing}</h1><p>{draft.prose(100, thing)}</p><{tag} class='{kind}'>{price} for one at "
            )
            draft.add(address(thing, value), (thing, value), (thing, price), _at_some_time(draft, start, tag))
    return draft.web()


def _at_some_time(draft: Draft, start: str, tag: str) -> Callable[[Fetch], Answer]:
    def show(fetch: Fetch) -> Answer:
        hour, minute = fetch.chance.randrange(24), fetch.chance.randrange(60)
        return draft.html(f"{start}{hour:02}:{minute:02}</{tag}>")

    return show


def _live(part: Callable[[Fetch, str], str], path: str) -> Family:
    """Things with a part of which some changes at each fetch and the rest with the variant, as *part* of a code has it."""

    def draw(draft: Draft) -> Web:
        address, values = draft.address(), draft.values(3)
        draft.take("//h1/text()", path)
        for thing in draft.words(24):
            for code, value in zip(draft.of(thing).sample(range(100, 999), 3), values, strict=True):
                show = _now(draft, thing, part, str(code))
                draft.add(address(thing, value), (thing, value), (thing, str(code)), show)
        return draft.web()

    return draw


def live_beside_fixed(draft: Draft) -> Web:
    """Prices that change at each fetch on most things, and with the variant on the others."""
    address, values = draft.address(), draft.values(3)
    draft.take("//h1/text()", "//i[not(//u)]/text() | //u/text()")
    for number, thing in enumerate(draft.words(24)):
        is_live = number % 4 > 0
        for code, value in zip(draft.of(thing).sample(range(100, 999), 3), values, strict=True):
            name = thing if is_live else (thing, value)
            show = _now(draft, thing, _live_price if is_live else _fixed_price, str(code))
            draft.add(address(thing, value), name, (thing, "now" if is_live else str(code)), show)
    return draft.web()


def _live_price(fetch: Fetch, _: str) -> str:
    return f"<i>{fetch.chance.randint(100, 999)}</i><u>now</u>"


def _fixed_price(_: Fetch, code: str) -> str:
    return f"<i>{code}</i>"


def _now(draft: Draft, thing: str, part: Callable[[Fetch, str], str], code: str) -> Callable[[Fetch], Answer]:
    start = f"<h1>{thing}</h1><p>{draft.prose(60, thing)}</p>"
    return lambda fetch: draft.html(start + part(fetch, code))


def _spelled(code: str) -> str:
    """Without a digit."""
    return code.translate(str.maketrans("0123456789", "bcdfghjklm"))


def _token(fetch: Fetch) -> str:
    return f"{fetch.chance.getrandbits(32):08x}"


def _with_urls(field: str, path: str, *, lead_somewhere: bool = False) -> Family:
    """Things that differ in nothing but the URL in a form, which is the item: nothing answers there, or a log-in does."""

    def draw(draft: Draft) -> Web:
        address, values = draft.address(), draft.values(3)
        folder, name = draft.words(2)
        draft.take("//h1/text()", path.format(name=name))
        end = _to_login(draft) if lead_somewhere else None
        for thing in draft.words(20):
            for value in values:
                url = f"/{folder}/{draft.of(thing, value).randrange(10**6)}"
                if end is not None:
                    draft.add(url, "end", None, end)
                form = f"<form>{field.format(name=name, value=url)}</form>"
                answer = draft.html(f"<h1>{thing}</h1><p>{draft.prose(80, thing)}</p>{form}")
                draft.add(address(thing, value), (thing, value), (thing, url), answer)
        return draft.web()

    return draw


_HIDDEN = '<input type="hidden" name="{name}" value="{value}">', "//input[@name='{name}']/@value"

_ON_BODIES: dict[str, Callable[[Draft], Part]] = {
    "disabled_button": disabled_button,
    "empty_stars": empty_stars,
    "ticked_column": ticked_column,
    "picture_order": picture_order,
    "ranking": ranking,
    "swapped_numbers": swapped_numbers,
    "other_picture_host": _in_attribute(
        '<img class="{name}" src="{value}">',
        "//img[@class='{name}']/@src",
        lambda code: f"http://{code}.example/x.jpg",
    ),
    "custom_element": _in_attribute(
        '<x-price class="{name}" amount="{value}"></x-price>', "//x-price[@class='{name}']/@amount"
    ),
    "element_id": _in_attribute(
        '<div class="{name}" id="{value}">x</div>',
        "//div[@class='{name}']/@id",
        lambda code: f"item-{int(code, 16) % 10**5}",
    ),
    "item_id": _in_attribute(
        '<div class="{name}" itemscope itemid="{value}">x</div>', "//div[@class='{name}']/@itemid"
    ),
    "greatest_number": _in_attribute(
        '<input class="{name}" type="number" max="{value}">',
        "//input[@class='{name}']/@max",
        lambda code: str(int(code, 16)),
    ),
    "link_fragment": _in_attribute(
        '<a class="{name}" href="{value}">x</a>', "//a[@class='{name}']/@href", lambda code: f"/#lat={code}"
    ),
    "drawn_path": _in_attribute(
        '<svg class="{name}"><path d="{value}"/></svg>',
        "//svg[@class='{name}']/path/@d",
        lambda code: f"M0 0L{int(code, 16)} 5",
    ),
    "generated_content": _in_attribute(
        '<style class="{name}">{value}</style>',
        "//style[@class='{name}']/text()",
        lambda code: f'p:after{{content:"{code}"}}',
    ),
    "preloaded_picture": _in_attribute(
        '<link rel="preload" as="image" id="{name}" href="{value}">',
        "//link[@id='{name}']/@href",
        lambda code: f"/hero/{code}.jpg",
        head=True,
    ),
    "table_in_comment": _in_attribute(
        '<div class="{name}"><!--{value}--></div>',
        "string(//div[@class='{name}']/comment())",
    ),
    "indentation": _of_values(
        '<pre class="{name}">{value}</pre>',
        "//pre[@class='{name}']/text()",
        "if a:\n  b\nc",
        "if a:\n  b\n  c",
        "if a:\n\n  b\nc",
        "if a:\n    b\n  c",
    ),
    "frame_host": _in_attribute(
        '<iframe class="{name}" src="{value}"></iframe>',
        "//iframe[@class='{name}']/@src",
        lambda code: f"http://{code}.example/shop",
    ),
    "language_of_element": _of_values(
        '<div class="{name}" lang="{value}">x</div>', "//div[@class='{name}']/@lang", "en", "de", "fr", "it"
    ),
    "rows_spanned": _of_values(
        '<table class="{name}"><tr><td rowspan="{value}">x</td></tr></table>',
        "//table[@class='{name}']//@rowspan",
        *"2345",
    ),
}

_ATTACKS: dict[str, Family] = {
    "chinese_prices": _chinese(lambda draft, *names: f"价格{draft.of(*names).randint(1, 999)}元"),
    "chinese_names": _chinese(lambda draft, *names: _signs(draft, 10, *names)),
    "chinese_stock": _chinese(_one_of("有货", "缺货", "预订")),
    "canonical_prices": _canonical(lambda draft, *names: _amount(draft.of(*names))),
    "canonical_reviews": _canonical(lambda draft, *names: draft.prose(12, *names)),
    "own_field": _own(
        '<form><input type="hidden" name="{name}" value="{value}"></form>', "//input[@name='{name}']/@value"
    ),
    "own_option": _own(
        '<select name="{name}"><option value="{value}">x</option></select>',
        "//select[@name='{name}']/option/@value",
    ),
    "own_attribute": _own(
        '<div class="{name}" data-colour="{value}">x</div>', "//div[@class='{name}']/@data-colour"
    ),
    "own_script": _own(
        '<script>var {name} = "{value}";</script>',
        "substring-before(substring-after(//script[contains(.,'{name}')],'\"'),'\"')",
    ),
    "links_to_login": _links_to(_to_login),
    "links_to_nothing": _links_to(lambda draft: draft.html(f"<p>{draft.prose(20)}</p>")),
    "link_to_login": _links_to(_to_login, 1),
    "link_to_nothing": _links_to(lambda draft: draft.html(f"<p>{draft.prose(20)}</p>"), 1),
    "relative_links": relative_links,
    "encodings": encodings,
    "xml_tags": xml_tags,
    "sitemaps": sitemaps,
    "own_items": own_items,
    "hidden_urls": _with_urls(*_HIDDEN),
    "hidden_urls_to_login": _with_urls(*_HIDDEN, lead_somewhere=True),
    "option_urls": _with_urls(
        '<select name="{name}"><option value="{value}">x</option></select>',
        "//select[@name='{name}']/option/@value",
    ),
    "price_beside_clock": price_beside_clock,
    "live_beside_fixed": live_beside_fixed,
    "numbers_beside_counter": _live(
        lambda fetch, code: f"<i>{fetch.chance.randint(10, 99)} a 2 b 3 c 4 d 5 e {code}</i>",
        "substring-after(//i, ' e ')",
    ),
    "unit_of_live_number": _live(
        lambda fetch, code: f"<i>{fetch.chance.randint(10, 99)} in {_spelled(code)}</i>",
        "translate(substring-after(//i, ' in '), 'bcdfghjklm', '0123456789')",
    ),
    "signed_picture": _live(
        lambda fetch, code: f'<img src="/{code}.jpg?t={_token(fetch)}">',
        "substring-before(substring-after(//img/@src, '/'), '.')",
    ),
    "signed_file": _live(
        lambda fetch, code: f'<a class="file" href="/{code}.zip?t={_token(fetch)}">x</a>',
        "substring-before(substring-after(//a[@class='file']/@href, '/'), '.')",
    ),
    "signed_path": _live(
        lambda fetch, code: f'<a class="file" href="http://files.example/{_token(fetch)}/{code}.zip">x</a>',
        "substring-before(substring-after(substring-after(//a[@class='file']/@href, 'example/'), '/'), '.')",
    ),
    "link_with_token": _live(
        lambda fetch, code: f'<a class="buy" href="/buy?t={_token(fetch)}&amp;v={code}">x</a>',
        "substring-after(//a[@class='buy']/@href, 'v=')",
    ),
    "action_with_token": _live(
        lambda fetch, code: (
            f'<form method="post" action="/buy?v={code}&amp;t={_token(fetch)}"><button>x</button></form>'
        ),
        "substring-before(substring-after(//form/@action, 'v='), '&')",
    ),
    "link_in_link_with_token": _live(
        lambda fetch, code: (
            f'<a class="tell" href="http://tell.example/?u=http%3A%2F%2Fs.test%2Fp%3Fv%3D{code}%26t%3D{_token(fetch)}">x</a>'
        ),
        "substring-before(substring-after(//a[@class='tell']/@href, 'v%3D'), '%26')",
    ),
    "token_in_field": _live(
        lambda fetch, code: f"<b onclick=\"buy({code}, '{_token(fetch)}')\">x</b>",
        "substring-before(substring-after(//b/@onclick, '('), ',')",
    ),
    "number_beside_word": _live(
        lambda fetch, code: f"<i>{code} {_spelled(str(fetch.chance.getrandbits(40)))}</i>",
        "substring-before(//i, ' ')",
    ),
    "name_beside_word": _live(
        lambda fetch, code: f"<i>{_spelled(code)} {_spelled(str(fetch.chance.getrandbits(40)))}</i>",
        "translate(substring-before(//i, ' '), 'bcdfghjklm', '0123456789')",
    ),
    "jittering_number": _live(
        lambda fetch, code: f"<i>{code}{fetch.chance.randint(100, 999)}</i>", "substring(//i, 1, 3)"
    ),
    "classes_by_chance": _live(
        lambda fetch, code: f'<div class="c{_token(fetch)}"><i class="d{_token(fetch)}">{code}</i></div>',
        "//i/text()",
    ),
}

#: Families by name.
ATTACKED: dict[str, Family] = {
    **_ATTACKS,
    **{name: differing_in(part) for name, part in _ON_BODIES.items()},
    **APART_IN_LOOKS,
}

#: Those of which the difference is left aside by design: an order, a host of pictures, what is commented out.
ASIDE = ("picture_order", "other_picture_host", "table_in_comment")
