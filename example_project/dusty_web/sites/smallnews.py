"""A small news site: print views, pages of long articles, and no proper 404.

True: ``/print/x`` is ``/x`` in other chrome; ``page=1`` and ``from`` mean nothing. False: every other ``page``; one
section for another (same slugs, other texts, though what is missing is missing in all of them); one live page for
another, although no two fetches of one agree. Columns count their readers. Some print views fail, some URLs fail once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dusty_web.prose import drawing, slugs, title
from dusty_web.site import Answer, Apologizes, Asked, Changes, Chrome, Content, Fails, Shows, Site

_BASE = "http://www.smallnews.test"
_SECTIONS = ("city", "sports", "opinion")
_ARTICLES = 17
_WEEKS = 5
_LIVE = 6
_REMOVED = 4


class SmallNews(Site):
    domain = "smallnews.test"
    hosts = ("www.smallnews.test",)
    disallowed = "/preview/"
    disallowed_links = (f"{_BASE}/preview/tomorrow", f"{_BASE}/preview/front?version=2")
    dead_links = tuple(
        f"{_BASE}/{section}/removed-{n}" for section in _SECTIONS for n in range(1, _REMOVED + 1)
    )
    chrome = Chrome(
        name="Small News",
        navigation=tuple((section.capitalize(), f"{_BASE}/{section}/") for section in _SECTIONS),
        small_print="Small News, since 1919. Written, printed and delivered in the same street.",
    )

    def build(self) -> Iterator[Content]:
        fronts = tuple(f"smallnews/{section}/" for section in _SECTIONS)
        live = tuple(f"smallnews/live/{n}" for n in range(1, _LIVE + 1))
        yield Content(
            id="smallnews/",
            title="Small News",
            topic="city",
            home=f"{_BASE}/",
            lists=(*fronts, *live),
            words=150,
        )
        for section in _SECTIONS:
            yield from self._section(section)
        for number, page in enumerate(live):
            home = f"{_BASE}/live/{number + 1}"
            yield Content(
                id=page,
                title=f"Live {number + 1}",
                topic="live",
                home=home,
                also=(f"{home}?from=rss",) if number % 2 else (),
                changes=Changes.EVERYTHING,
            )

    def _section(self, section: str) -> Iterator[Content]:
        names = [
            *slugs(drawing(self.seed, section), section, _ARTICLES),
            *(f"week-{n}" for n in range(1, _WEEKS + 1)),
        ]
        articles = [f"smallnews/{section}/{name}" for name in names]
        half = len(articles) // 2
        front = Content(
            id=f"smallnews/{section}/",
            title=f"Small News: {section}",
            topic=section,
            home=f"{_BASE}/{section}/",
            also=(f"{_BASE}/{section}/?page=1",),
            lists=(f"smallnews/{section}/#2", *articles[:half]),
            words=200,
        )
        yield front
        second = tuple(articles[half:])
        yield replace(front, id=f"{front.id}#2", home=f"{_BASE}/{section}/?page=2", also=(), lists=second)
        for number, article in enumerate(articles):
            yield from self._article(section, article, number)

    def _article(self, section: str, name: str, number: int) -> Iterator[Content]:
        draw = drawing(self.seed, name)
        home = name.replace("smallnews", _BASE)
        printed = home.replace(f"/{section}/", f"/print/{section}/")
        pages = 1 + (number % 3 == 0) + (number % 6 == 0)
        article = Content(
            id=name,
            title=title(draw, section),
            topic=section,
            home=home,
            also=tuple(f"{home}?from={source}" for source in draw.sample(["home", "rss", "letter"], 2)),
            words=draw.randrange(600, 850),
            changes=Changes.COUNTER if section == "opinion" and number % 3 == 1 else Changes.NOTHING,
            canonical=home,
        )
        more = [f"{name}#{page}" for page in range(2, pages + 1)]
        offers = [f"{home}?page=1"] * (number % 5 != 4) + [printed] * (number % 3 != 2)
        fails = self._fails(section, number, home, printed)
        yield replace(
            article,
            offers=tuple(url for url in offers if url not in fails),
            failing=fails,
            lists=tuple(more[:1]),
        )
        for page, further in enumerate(more, start=2):
            following = more[page - 1 : page]
            # Its rel=canonical names the first page, as is often seen; it is wrong.
            yield replace(article, id=further, home=f"{home}?page={page}", also=(), lists=tuple(following))

    def _fails(self, section: str, number: int, home: str, printed: str) -> tuple[str, ...]:
        """Some print views are broken for good, some URLs only when first asked for."""
        if number == 3:
            return (printed,)
        return (f"{home}?from=front",) if number == 7 and section != "opinion" else ()

    def answer(self, asked: Asked) -> Answer:
        for_print = asked.path.startswith("/print/")
        path = asked.path.removeprefix("/print") if for_print else asked.path
        page = asked.param("page") or "1"
        found = f"smallnews{path}" + (f"#{page}" if page != "1" else "")
        content = self.contents.get(found)
        if content is None or (for_print and path.endswith("/")) or (for_print and path.startswith("/live/")):
            return Apologizes()
        broken = self.contents[f"smallnews{path}"].failing
        if f"{_BASE}{asked.path}" in broken:
            return Fails(500)
        return Shows(found, for_print=for_print, fails_first=self._is_slow(asked, broken))

    def _is_slow(self, asked: Asked, broken: tuple[str, ...]) -> bool:
        source = asked.param("from")
        return source is not None and f"{_BASE}{asked.path}?from={source}" in broken
