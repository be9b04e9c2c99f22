"""The smallest web that can be made of one that breaks the law: what can be left out is left out, what can be plain is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace

from tests.webs.model import Answer, Handling, Manner, Page, Redirect, Web

_PLAIN = Manner()


def shrunk(web: Web, breaks: Callable[[Web], bool]) -> Web:
    """*web*, of which *breaks* is true, as small as one change at a time makes it."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in _smaller(web):
            if breaks(smaller):
                web, is_smaller = smaller, True
                break
    return web


def _smaller(web: Web) -> Iterator[Web]:
    """Webs with a little less in them, the boldest changes first."""
    for spec in fields(Manner):
        plain = getattr(_PLAIN, spec.name)
        if getattr(web.manner, spec.name) != plain:
            yield replace(web, manner=replace(web.manner, **{spec.name: plain}))
    for url in web.answers:
        yield _without(web, url)
    for url in web.handled:
        if web.handling(url) != Handling():
            yield replace(web, handled={other: how for other, how in web.handled.items() if other != url})
    for rule in web.rules:
        yield replace(web, rules=tuple(other for other in web.rules if other != rule))
    for at in range(len(web.start)) if len(web.start) > 1 else ():
        yield replace(web, start=web.start[:at] + web.start[at + 1 :])
    yield from _plainer_webs(web)


def _plainer_webs(web: Web) -> Iterator[Web]:
    for content, links in web.links.items():
        for at in range(len(links)):
            yield replace(web, links={**web.links, content: links[:at] + links[at + 1 :]})
    for url, delay in web.delays.items():
        if delay:
            yield replace(web, delays={**web.delays, url: 0})
    for url, answer in web.answers.items():
        for plainer in _plainer(answer):
            yield replace(web, answers={**web.answers, url: plainer})


def _without(web: Web, url: str) -> Web:
    """Without *url*: nobody links to it, and redirects to it fail."""
    return replace(
        web,
        answers={other: answer for other, answer in web.answers.items() if other != url},
        links={
            content: tuple(link for link in links if link.url != url) for content, links in web.links.items()
        },
        start=tuple(other for other in web.start if other != url) or web.start,
        delays={other: delay for other, delay in web.delays.items() if other != url},
    )


def _plainer(answer: Answer) -> Iterator[Answer]:
    match answer:
        case Redirect(to, refresh=True):
            yield Redirect(to)
        case Page(content, turns_after):
            if turns_after:
                yield Page(content)
        case _ if getattr(answer, "then", None):
            yield answer.then  # type: ignore[union-attr]
