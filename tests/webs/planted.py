"""Bugs that are planted to see that the law is able to find them: each breaks one of the promises of the crawl room.

Only tests do this, in their own process and for the time of a ``with``. What is taken out is a method, a function or a
table, which is put back afterwards; everything else stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from scrapy_dust.crawl import life, request_outcomes
from scrapy_dust.crawl.class_names import Naming
from scrapy_dust.crawl.class_store import LocalStore
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.life import CLASSES, Effect, Event, Fate
from scrapy_dust.crawl.proving import Proving
from scrapy_dust.crawl.request_handling import Handling
from scrapy_dust.crawl.request_outcomes import Outcomes
from scrapy_dust.crawl.spider_answers import Made
from scrapy_dust.crawl.succession import Succession
from scrapy_dust.crawl.suspension import Suspension

#: Of what, the name of what is taken out, and what is there instead.
Guard = tuple[type | ModuleType, str, Any]

_open, _stands_or_waits, _taken = LocalStore.open, life.fate_of, Outcomes.page_taken


def _nothing(*_: object, **__: object) -> None:
    return None


def _no(*_: object, **__: object) -> bool:
    return False


def _settled_by(*events: Event) -> Mapping[Any, Any]:
    """The table of classes in which *events* are pages."""
    settled = {key: (life.State.SETTLED, (Effect.SUPPRESS,)) for key in CLASSES if key[1] in events}
    return {**CLASSES, **settled}


def _without(effect: Effect) -> Mapping[Any, Any]:
    return {
        key: (state, tuple(one for one in effects if one is not effect))
        for key, (state, effects) in CLASSES.items()
    }


def _whatever_the_depth(of: life.Class, priority: int, depth: int | None, **more: Any) -> Fate:
    return _stands_or_waits(of, priority, None, **more)


def _whatever_the_priority(of: life.Class, priority: int, depth: int | None, **more: Any) -> Fate:
    return _stands_or_waits(of, min(priority, of.priority), depth, **more)


def _forgetful(store: LocalStore, *, goes_on: bool) -> None:
    _open(store, goes_on=goes_on)
    for of in list(store.waiting()) if goes_on else ():
        while store.take_next(of):
            pass


#: By the promise of docs/crawling.md that each breaks.
BUGS: Mapping[str, tuple[Guard, ...]] = {
    # 1. Requests are one though the spider handles them in different ways.
    "callbacks are one": ((Handling, "name", lambda *_: ""),),
    "depths are one": ((life, "fate_of", _whatever_the_depth),),
    # 2. What the project's own dupefilter lets through is filtered.
    "inner dupefilter overruled": ((DustDupeFilter, "_was_fetched_before", _no),),
    # 3. A class has its page before the spider has taken one, or never gets it.
    "failures are pages": ((life, "CLASSES", _settled_by(Event.NO_PAGE)),),
    "any answer is a page": (
        (request_outcomes, "shows_page", lambda response: response.status < 300),
        # Behind it stands that the spider has made nothing of it.
        (Outcomes, "page_taken", lambda self, response, made: _taken(self, response, max(made, Made.NEW))),
    ),
    "what raises is a page": (
        (Outcomes, "no_page", lambda self, response: self.page_taken(response, Made.NEW)),
    ),
    "heirs off": ((life, "CLASSES", _without(Effect.FETCH_NEXT)),),
    # Whoever lands on the page of another class has found its own.
    "login guard off": ((Succession, "_is_shared_landing", _no),),
    # 4. What another site links stands for a class.
    "strangers choose": (
        (Naming, "linking_site", _nothing),
        (Outcomes, "page_taken", lambda self, response, made: _taken(self, response, max(made, Made.NEW))),
    ),
    # 5. An alias waits though by itself it would not. No order of answers is lost by that, only time: tests/life shows it.
    "nothing is urgent": ((life, "fate_of", _whatever_the_priority),),
    "nothing is overdue": (
        (life, "CLASSES", {key: to for key, to in CLASSES.items() if key[1] is not Event.OVERDUE}),
    ),
    # 6. A pause forgets who waits.
    "pauses forget": ((LocalStore, "open", _forgetful),),
    # 7. What no canary comes for is suppressed, and a rule that was found to be false keeps what it suppressed.
    "canaries off": ((Proving, "becomes_canary", _no),),
    "giving back off": ((Suspension, "_give_back", _nothing),),
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
