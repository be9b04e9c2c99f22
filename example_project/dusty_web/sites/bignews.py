"""A large news site: several hosts, redirects, and parameters that only say where a reader came from.

True: ``www.`` and ``edition.`` mean nothing; nor do ``ref``, ``cid`` and ``;jsessionid=…``; ``bignews.test/money/x``
redirects to ``money.bignews.test/x``, ``/dir/N`` to ``/dir/N/``, ``/q/N`` to ``/q/N?sid=7``, ``/b?b=2&a=N`` to
``/b?a=N&b=2``. False: ``money.`` for ``www.`` (same paths, other pages), one number for another, and what rel=canonical
says in the sport section, where all pages name the section's front. Some articles are not in the edition: 404.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from dusty_web.prose import drawing, slugs, title
from dusty_web.site import Answer, Asked, Chrome, Content, Fails, Redirects, Shows, Site

_BARE, _WWW, _EDITION = "http://bignews.test", "http://www.bignews.test", "http://edition.bignews.test"
_MONEY = "http://money.bignews.test"
_SECTIONS = ("world", "sport", "tech")
_ARTICLES = 28
_MONEY_ARTICLES = 16
_HOUSE = ("about", "contact", "jobs")
_NUMBERED = 12
_SESSION = re.compile(r";[^/]*")


class BigNews(Site):
    domain = "bignews.test"
    hosts = ("www.bignews.test", "bignews.test", "edition.bignews.test", "money.bignews.test")
    disallowed = "/private/"
    disallowed_links = (f"{_WWW}/private/drafts", f"{_WWW}/private/draft?id=12")
    chrome = Chrome(
        name="Big News Network",
        navigation=(
            *((section.capitalize(), f"{_WWW}/{section}/") for section in _SECTIONS),
            ("Money", f"{_MONEY}/"),
        ),
        small_print="""Big News Network is read in more than forty countries and edited in three of them. Figures on
        markets are delayed by at least fifteen minutes and are no advice to buy or sell. Reproduction of photographs
        needs the consent of those who took them. Letters to the editor may be shortened. Readers below the age of
        sixteen should ask somebody older before they subscribe. We correct our mistakes where they were made and say
        that we did. Advertisements are marked as such; what is not marked was not paid for.""",
        absolute_links=True,
    )

    def build(self) -> Iterator[Content]:
        words = slugs(drawing(self.seed, "slugs"), "world", _ARTICLES * len(_SECTIONS) + _MONEY_ARTICLES)
        sections = {name: words[i * _ARTICLES : (i + 1) * _ARTICLES] for i, name in enumerate(_SECTIONS)}
        money = words[-_MONEY_ARTICLES:]
        numbered = [f"{kind}/{n}" for kind in ("q", "dir", "b") for n in range(1, _NUMBERED + 1)]
        yield self._front("front", "/", "world", [*(f"{s}/front" for s in _SECTIONS), *_HOUSE, *numbered])
        for section, articles in sections.items():
            listed = [f"{section}/{slug}" for slug in articles]
            yield self._front(f"{section}/front", f"/{section}/", section, [*listed, "money/front"])
            for number, slug in enumerate(articles):
                yield self._article(section, slug, in_edition=number > 0)
        yield self._money_front(money)
        for number, slug in enumerate(money):
            yield self._money_article(slug, number)
        for house in _HOUSE:
            yield self._note(house, f"{_WWW}/{house}", (f"{_BARE}/{house}", f"{_EDITION}/{house}?ref=foot"))
            yield self._note(f"money/{house}", f"{_MONEY}/{house}", (f"{_MONEY}/{house}?ref=foot",))
        for which in numbered:
            yield self._numbered(which)

    def _front(self, name: str, path: str, topic: str, lists: list[str]) -> Content:
        return Content(
            id=f"bignews/{name}",
            title=f"Big News: {name.removesuffix('/front')}",
            topic=topic,
            home=_WWW + path,
            also=(_BARE + path, _EDITION + path),
            lists=tuple(f"bignews/{listed}" for listed in lists),
            words=120,
        )

    def _article(self, section: str, slug: str, *, in_edition: bool) -> Content:
        name = f"{section}/{slug}"
        draw = drawing(self.seed, "bignews", name)
        path = f"/{section}/{draw.randrange(100, 999)}/{slug}"
        edition = (f"{_EDITION}{path}", f"{_EDITION}{path}?cid={draw.randrange(10**5, 10**6)}")
        session = [f";jsessionid={_session(draw)}" for _ in range(3)]
        also = [
            f"{_BARE}{path}",
            *(f"{_WWW}{path}?ref={ref}" for ref in draw.sample(["home", "rss", "mail", "most-read"], 2)),
            f"{_WWW}{path}?cid={draw.randrange(10**5, 10**6)}",
            f"{_BARE}{path}?ref=rss",
            f"{_WWW}{path}{session[0]}",
            f"{_WWW}{path}{session[1]}",
            f"{_BARE}{path}{session[2]}?ref=home",
        ]
        return Content(
            id=f"bignews/{name}",
            title=title(draw, section),
            topic=section,
            home=_WWW + path,
            also=tuple(also) + (edition if in_edition else ()),
            failing=() if in_edition else edition[:1],
            words=draw.randrange(300, 620),
            canonical=f"{_WWW}/sport/" if section == "sport" else _WWW + path,
        )

    def _money_front(self, articles: list[str]) -> Content:
        return Content(
            id="bignews/money/front",
            title="Big News: money",
            topic="money",
            home=f"{_MONEY}/",
            also=(f"{_WWW}/money/",),
            lists=tuple(f"bignews/money/{name}" for name in (*articles, *_HOUSE)),
            words=120,
        )

    def _money_article(self, slug: str, number: int) -> Content:
        draw = drawing(self.seed, "money", slug)
        redirecting = [f"{_WWW}/money/{slug}", *([f"{_BARE}/money/{slug}"] if number % 2 else [])]
        return Content(
            id=f"bignews/money/{slug}",
            title=title(draw, "money"),
            topic="money",
            home=f"{_MONEY}/{slug}",
            also=(*redirecting, *(f"{_MONEY}/{slug}?ref={ref}" for ref in ("home", "rss"))),
            words=draw.randrange(300, 620),
        )

    def _note(self, name: str, home: str, also: tuple[str, ...]) -> Content:
        return Content(
            id=f"bignews/{name}", title=name.capitalize(), topic="money", home=home, also=also, words=200
        )

    def _numbered(self, which: str) -> Content:
        kind, number = which.split("/")
        spelled = {
            "q": (f"{_WWW}/q/{number}", (f"{_WWW}/q/{number}?sid=7",)),
            "dir": (f"{_WWW}/dir/{number}/", (f"{_WWW}/dir/{number}",)),
            # Only ever linked in the order that redirects. Scrapy sorts parameters before it compares URLs, so it
            # takes the redirect for a duplicate of itself, and these pages are lost.
            "b": (f"{_WWW}/b?b=2&a={number}", ()),
        }
        home, also = spelled[kind]
        draw = drawing(self.seed, "numbered", which)
        return Content(
            id=f"bignews/{which}",
            title=title(draw, "tech"),
            topic="tech",
            home=home,
            also=also,
            words=draw.randrange(220, 420),
            is_leaf=kind == "b",
        )

    def answer(self, asked: Asked) -> Answer:
        path = _SESSION.sub("", asked.path)
        here, query = f"http://{asked.host}", "&".join(f"{name}={value}" for name, value in asked.params)
        if asked.host == "money.bignews.test":
            return self._shown(f"money/{path[1:] or 'front'}")
        if path.startswith("/money/"):
            return Redirects(301, f"{_MONEY}/{path.removeprefix('/money/')}{query and '?' + query}")
        section, _, rest = path[1:].partition("/")
        if section == "b":
            return self._ordered(here, asked)
        if section == "q" and asked.param("sid") is None:
            return Redirects(302, f"{here}/q/{rest}?sid=7")
        if section == "dir" and not rest.endswith("/"):
            return Redirects(301, f"{here}/dir/{rest}/")
        if section in _SECTIONS:
            return self._section(asked.host, section, rest)
        return self._shown(path[1:].removesuffix("/") if section == "dir" else path[1:] or "front")

    def _shown(self, name: str) -> Answer:
        found = f"bignews/{name}"
        return Shows(found) if found in self.contents and not name.startswith("b/") else Fails(404)

    def _ordered(self, here: str, asked: Asked) -> Answer:
        found = f"bignews/b/{asked.param('a')}"
        if found not in self.contents:
            return Fails(404)
        in_order = tuple(sorted(asked.params))
        if asked.params != in_order:
            return Redirects(301, f"{here}/b?" + "&".join(f"{name}={value}" for name, value in in_order))
        return Shows(found)

    def _section(self, host: str, section: str, rest: str) -> Answer:
        if not rest:
            return self._shown(f"{section}/front")
        number, _, slug = rest.partition("/")
        content = self.contents.get(f"bignews/{section}/{slug}")
        if content is None or not content.home.endswith(f"/{number}/{slug}"):
            return Fails(404)
        return Fails(404) if f"http://{host}/{section}/{rest}" in content.failing else Shows(content.id)


def _session(draw: random.Random) -> str:
    return f"{draw.getrandbits(64):016X}"
