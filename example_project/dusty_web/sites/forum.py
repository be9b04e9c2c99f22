"""A forum: several sub-forums that run the same software, each with stories and threads of its own.

True: ``story?id=7`` is ``story_7`` and ``story.php3?id=7``; ``thread?rep=7`` is ``thread_7``; ``&LastView=&Close=``
and session ids mean nothing; ``sort`` only changes the order of a menu; ``/help_rules`` is ``/rules``.
False: ``scifi`` for ``movies`` (same numbers, other stories), ``story`` for ``thread``, pages of a board;
and ``/help_logout`` explains what ``/logout`` would do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from dusty_web.prose import drawing, title
from dusty_web.site import Acts, Answer, Asked, Chrome, Content, Fails, Shows, Site

_FORUMS = ("scifi", "movies", "politics")
_STORIES = 18
_THREADS = 12
_BOARDS = 3
_HELP = ("rules", "faq", "contact", "moderators", "smileys")
_ACTIONS = ("logout", "delete")
_NOTES = ("about", "terms")

# As a RewriteRule without a "$" would: what follows the number is not looked at.
_SHORT = re.compile(r"/(story|thread)_(\d+)(?!\d)")
_LONG = re.compile(r"/(story|thread)(?:\.php3)?")
_NUMBER_IN = {"story": "id", "thread": "rep"}


class Forum(Site):
    domain = "forum.test"
    hosts = ("www.forum.test", *(f"{forum}.forum.test" for forum in _FORUMS))
    disallowed = "/admin/"
    disallowed_links = ("http://www.forum.test/admin/panel", "http://www.forum.test/admin/edit?id=4")
    chrome = Chrome(
        name="The Village Forum",
        navigation=tuple((forum.capitalize(), f"http://{forum}.forum.test/") for forum in _FORUMS),
        small_print="""All posts belong to those who wrote them and are kept for as long as the forum lasts. Be kind to
        newcomers, quote no more than you answer, and search before you ask. Moderators may move a thread to
        another board without asking. Whoever posts the same text on several boards will see all copies removed.
        Questions about membership are answered by the moderators, never by mail. This forum runs on software of its
        own that was written in nineteen ninety nine and has been repaired ever since.""",
    )

    def build(self) -> Iterator[Content]:
        yield Content(
            id="forum/front",
            title="The Village Forum",
            topic="scifi",
            home="http://www.forum.test/",
            lists=tuple(f"forum/{name}" for name in (*_NOTES, *(f"{forum}/front" for forum in _FORUMS))),
            words=120,
        )
        for note in _NOTES:
            yield Content(
                id=f"forum/{note}",
                title=note.capitalize(),
                topic="movies",
                home=f"http://www.forum.test/{note}",
            )
        for forum in _FORUMS:
            yield from self._sub_forum(forum)

    def _sub_forum(self, forum: str) -> Iterator[Content]:
        base, here = f"http://{forum}.forum.test", f"forum/{forum}"
        posts = [f"{here}/story/{n}" for n in range(1, _STORIES + 1)]
        posts += [f"{here}/thread/{n}" for n in range(1, _THREADS + 1)]
        boards = [f"{here}/board/{n}" for n in range(1, _BOARDS + 1)]
        helps = [f"{here}/help/{name}" for name in (*_HELP, *_ACTIONS)]
        yield Content(
            id=f"{here}/front",
            title=f"{forum.capitalize()} forum",
            topic=forum,
            home=f"{base}/",
            lists=(*boards, *helps),
            words=150,
        )
        for n, board in enumerate(boards, start=1):
            yield Content(
                id=board,
                title=f"{forum.capitalize()} forum, latest posts",
                topic=forum,
                home=f"{base}/board?page={n}",
                lists=tuple(posts[n - 1 :: _BOARDS]),
                words=80,
            )
        for post in posts:
            yield self._post(post, forum, base)
        for name in _HELP:
            yield self._note(forum, name, f"{base}/help_{name}", also=(f"{base}/{name}",))
        yield self._note(forum, "logout", f"{base}/help_logout")
        yield self._note(forum, "delete", f"{base}/help_delete?id=3")

    def _note(self, forum: str, name: str, home: str, also: tuple[str, ...] = ()) -> Content:
        return Content(
            id=f"forum/{forum}/help/{name}",
            title=f"Help: {name}",
            topic=forum,
            home=home,
            also=also,
            words=140,
        )

    def _post(self, post: str, forum: str, base: str) -> Content:
        _, _, kind, number = post.split("/")
        draw = drawing(self.seed, post)
        short, asking = f"{base}/{kind}_{number}", f"{kind}?{_NUMBER_IN[kind]}={number}"
        home, other = draw.sample([short, f"{base}/{asking}"], 2)
        old = f"{base}/{asking.replace('?', '.php3?')}"
        also = [
            other,
            old,
            *(f"{base}/{asking}&sid={_session(draw)}" for _ in range(2 if kind == "story" else 1)),
        ]
        offers: list[str] = []
        if kind == "story":
            also += [f"{base}/{asking}&LastView=&Close=", f"{old}&LastView=&Close="]
            if int(number) % 3 == 0:
                offers = [f"{base}/{asking}&sort={order}" for order in ("author", "length")]
        return Content(
            id=post,
            title=title(draw, forum),
            topic=forum,
            home=home,
            also=tuple(also),
            offers=tuple(offers),
            words=draw.randrange(260, 560),
            sortable=kind == "story",
        )

    def answer(self, asked: Asked) -> Answer:
        forum = asked.host.removesuffix(".forum.test")
        name = asked.path.removeprefix("/")
        if name in _ACTIONS:
            return Acts()
        if forum == "www":
            found = f"forum/{name or 'front'}"
            return Shows(found) if found in self.contents and "/" not in name else Fails(404)
        found = f"forum/{forum}/{self._within(name, asked)}"
        return Shows(found, order=_order(asked)) if found in self.contents else Fails(404)

    def _within(self, name: str, asked: Asked) -> str:
        """The rest of the id of what a path names in a sub-forum."""
        if not name:
            return "front"
        if match := _SHORT.match(asked.path):
            return f"{match[1]}/{match[2]}"
        if match := _LONG.fullmatch(asked.path):
            return f"{match[1]}/{asked.param(_NUMBER_IN[match[1]])}"
        if name == "board":
            return f"board/{asked.param('page') or 1}"
        return f"help/{name.removeprefix('help_')}"


def _session(draw: random.Random) -> str:
    return f"{draw.getrandbits(48):012x}"


def _order(asked: Asked) -> str:
    order = asked.param("sort")
    return order if order in ("author", "length") else "date"
