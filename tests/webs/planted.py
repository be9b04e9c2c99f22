"""Bugs that are planted to see that the law is able to find them: each takes one of our guards out of the crawl room.

Only tests do this, in their own process and for the time of a ``with``. What is taken out is a method, which is put
back afterwards; everything else stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scrapy import Request

from scrapy_dust.crawl.canaries import Canaries
from scrapy_dust.crawl.classes import WaitingClasses
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.succession import Succession
from scrapy_dust.crawl.suspension import Suspension

Guard = tuple[type, str, Callable[..., Any]]


_is_needed = DustDupeFilter._is_needed


def _is_needed_but_for_redirects(dupefilter: DustDupeFilter, request: Request, *more: Any) -> bool:
    return not request.meta.get("redirect_urls") and _is_needed(dupefilter, request, *more)


def _nothing(*_: object, **__: object) -> None:
    return None


def _no_orphans(*_: object) -> Iterator[Any]:
    return iter(())


def _not_shared() -> Iterator[Any]:
    yield from ()
    return False  # type: ignore[return-value]


#: What is taken out, and what is there instead.
BUGS: Mapping[str, tuple[Guard, ...]] = {
    # A redirect to its own class is a duplicate of the request that it answers.
    "redirect guard off": (
        (DustDupeFilter, "_continues", lambda *_: False),
        # Behind it stands that a class whose chain has ended is one that failed.
        (DustDupeFilter, "_is_needed", _is_needed_but_for_redirects),
    ),
    # Aliases of a URL that fails are gone with it.
    "heirs off": (
        (WaitingClasses, "keep", lambda *_: True),
        (WaitingClasses, "has_failed", lambda *_: False),
        (WaitingClasses, "orphans", _no_orphans),
    ),
    # What no canary comes for is suppressed.
    "canaries off": ((Canaries, "are_chosen", lambda *_: False),),
    # A failed fetch counts as the class's page.
    "failures are pages": ((WaitingClasses, "fail", lambda self, key, url: self.settle(key) and None),),
    # Whoever lands on the page of another class has found its own.
    "login guard off": ((Succession, "_left", lambda *_: _not_shared()),),
    # A rule that was found to be false keeps what it suppressed.
    "giving back off": ((Suspension, "_give_back", _nothing),),
    # A pause forgets who waits.
    "pauses forget": ((WaitingClasses, "load", _nothing),),
}


@contextmanager
def planted(bug: str) -> Iterator[None]:
    guards = BUGS[bug]
    kept = [(where, name, where.__dict__[name]) for where, name, _ in guards]
    for where, name, instead in guards:
        setattr(where, name, instead)
    try:
        yield
    finally:
        for where, name, was in kept:
            setattr(where, name, was)
