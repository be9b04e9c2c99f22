"""The life of a URL in a crawl: what may happen to a class of URLs, and to each URL of the class.

All decisions are made here, in two tables; this module knows no request, no disk and no Scrapy. `docs/crawling.md`
shows the tables as diagrams, which `docs/generate.py` makes from this module.

A *class* is all URLs that rules take for one page and that the spider handles alike. One URL of a class is fetched:
the URL *stands* for the class. The others *wait* until the spider has taken the page, and are *suppressed* then. If
the URL that stands brings no page, the URL that has waited longest stands next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple


class State(StrEnum):
    """The state of a class."""

    __hash__ = str.__hash__  # an enum's own takes ten times as long

    UNKNOWN = "unknown"  #: no URL of it was let through
    STANDING = "standing"  #: a URL of it is queued or being fetched
    RESTING = "resting"  #: it seems to have its page, which a redirect found under another class's URL
    CONFIRMING = "confirming"  #: a second URL is fetched to see whether it is led to the same place, or yields as little
    SETTLED = "settled"  #: the spider has taken its page
    FAILED = "failed"  #: nothing stands for it, and no page has come


class Event(StrEnum):
    """The events of a class."""

    __hash__ = str.__hash__  # an enum's own takes ten times as long

    LET_THROUGH = "let through"  #: a URL of it is let through, and stands for it
    TAKEN = "page taken"  #: the spider has taken a page from a URL that stands
    NO_PAGE = "no page"  #: the last URL that stood brought no page
    BUSY = "site busy"  #: likewise, for an error that may pass: the site sheds load, or no answer came
    NOTHING = "nothing yielded"  #: the spider made nothing of an answer; its callback yields elsewhere
    DOUBTED = "page in doubt"  #: its page has turned out to be a wall for other classes
    LED_AWAY = "led away"  #: a redirect led to the page of another class
    LED_AGAIN = "led there again"  #: a second URL was led to the same page
    OVERDUE = "overdue"  #: the URL that stands takes much longer than answers take here
    IDLE = "spider idle"  #: nothing that stands can bring a page any more


class Effect(StrEnum):
    """The tasks that an event gives to the crawl."""

    FETCH_NEXT = "fetch the next"  #: of the URLs that wait
    FETCH_LATER = "fetch the next later"  #: when the site has shown a page again, or the spider is idle
    SUPPRESS = "suppress what waits"  #: the URLs that wait are kept only in case a rule is false


_NEXT, _LATER, _SUPPRESS = (Effect.FETCH_NEXT,), (Effect.FETCH_LATER,), (Effect.SUPPRESS,)

#: The next state after an event, and its effects. An event that is not listed changes nothing.
CLASSES: Mapping[tuple[State, Event], tuple[State, tuple[Effect, ...]]] = {
    (State.UNKNOWN, Event.LET_THROUGH): (State.STANDING, ()),
    (State.UNKNOWN, Event.TAKEN): (State.SETTLED, ()),
    (State.STANDING, Event.TAKEN): (State.SETTLED, _SUPPRESS),
    (State.STANDING, Event.NO_PAGE): (State.FAILED, _NEXT),
    (State.STANDING, Event.BUSY): (State.FAILED, _LATER),
    (State.STANDING, Event.NOTHING): (State.CONFIRMING, _NEXT),
    (State.STANDING, Event.LED_AWAY): (State.RESTING, ()),
    (State.STANDING, Event.OVERDUE): (State.STANDING, _NEXT),
    (State.STANDING, Event.IDLE): (State.FAILED, _NEXT),
    (State.RESTING, Event.TAKEN): (State.SETTLED, _SUPPRESS),
    (State.RESTING, Event.NO_PAGE): (State.FAILED, _NEXT),
    (State.RESTING, Event.BUSY): (State.FAILED, _LATER),
    (State.RESTING, Event.LET_THROUGH): (State.CONFIRMING, ()),
    (State.RESTING, Event.DOUBTED): (State.CONFIRMING, _NEXT),
    (State.RESTING, Event.IDLE): (State.CONFIRMING, _NEXT),
    (State.CONFIRMING, Event.TAKEN): (State.SETTLED, _SUPPRESS),
    (State.CONFIRMING, Event.LET_THROUGH): (State.CONFIRMING, ()),
    (State.CONFIRMING, Event.NOTHING): (State.SETTLED, _SUPPRESS),
    (State.CONFIRMING, Event.LED_AGAIN): (State.SETTLED, _SUPPRESS),
    (State.CONFIRMING, Event.LED_AWAY): (State.RESTING, ()),
    (State.CONFIRMING, Event.NO_PAGE): (State.FAILED, _NEXT),
    (State.CONFIRMING, Event.BUSY): (State.FAILED, _LATER),
    (State.CONFIRMING, Event.IDLE): (State.FAILED, _NEXT),
    (State.SETTLED, Event.DOUBTED): (State.CONFIRMING, _NEXT),
    (State.FAILED, Event.LET_THROUGH): (State.STANDING, ()),
    (State.FAILED, Event.TAKEN): (State.SETTLED, _SUPPRESS),
    (State.FAILED, Event.IDLE): (State.FAILED, _NEXT),
}


class Fate(StrEnum):
    """The possible ends of a request: let through, waiting, suppressed and so on."""

    ASKED = "asked for"  #: the spider asks for it
    STANDS = "standing"  #: it is fetched for its class
    WAITS = "waiting"  #: it is kept, and fetched if the URL that stands for its class brings no page
    SUPPRESSED = "suppressed"  #: it is kept, and given back if a rule that suppressed it is false
    CANARY = "canary"  #: it is fetched to test the rules that would suppress it
    PROBED = "on probation"  #: it was suppressed, and is fetched to test a rule that is in doubt
    RETURNED = "returned"  #: it was suppressed, and the spider is offered it again
    FAILED = "failed"  #: it brought no page
    DONE = "taken"  #: the spider has its page


#: How a URL comes from one fate to another, and when.
URLS: Mapping[tuple[Fate, str], Fate] = {
    (Fate.ASKED, "its class is unknown or failed"): Fate.STANDS,
    (Fate.ASKED, "what stands for its class is less urgent or deeper"): Fate.STANDS,
    (Fate.ASKED, "it cannot be kept"): Fate.STANDS,
    (Fate.ASKED, "another URL stands"): Fate.WAITS,
    (Fate.ASKED, "its class is settled"): Fate.SUPPRESSED,
    (Fate.ASKED, "by chance, or a rule has still to show itself"): Fate.CANARY,
    (Fate.CANARY, "the rule has shown itself meanwhile"): Fate.SUPPRESSED,
    (Fate.STANDS, "a rule is proved, and its class has its page"): Fate.SUPPRESSED,
    (Fate.WAITS, "what stood brings no page"): Fate.STANDS,
    (Fate.WAITS, "its class is settled"): Fate.SUPPRESSED,
    (Fate.SUPPRESSED, "a rule is in doubt"): Fate.PROBED,
    (Fate.SUPPRESSED, "a rule is false"): Fate.RETURNED,
    (Fate.WAITS, "a rule is false"): Fate.RETURNED,
    (Fate.STANDS, "the spider takes its page"): Fate.DONE,
    (Fate.STANDS, "no page"): Fate.FAILED,
    (Fate.RETURNED, "its class is unknown"): Fate.STANDS,
    (Fate.RETURNED, "its class is settled"): Fate.SUPPRESSED,
}


class Class(NamedTuple):
    """A class of URLs as it is now: its state, which URL stands for it, and how many wait."""

    state: State = State.UNKNOWN
    standing: tuple[int, ...] = ()  #: numbers of URLs that were let through and have no outcome
    waiting: int = 0  #: URLs that wait
    failed: bool = False  #: a URL of it brought no page
    landed_on: bytes | None = None  #: the class where a redirect led
    priority: int = 0  #: the highest of what stands
    depth: int = 0  #: the least of what stands
    keeper: int = 0  #: where the URL is written that was let through last; 0: nowhere


UNKNOWN, SETTLED = Class(), Class(State.SETTLED)

#: A class after an event, and what is to be done.
After = tuple[Class, tuple[Effect, ...]]


def fate_of(known: Class, priority: int, depth: int | None, *, is_fetched: bool) -> Fate:
    """Whether a new URL of the class *known* is let through, waits, or is suppressed. *depth*: where it is limited.

    *is_fetched*: the URL that stands has left the queue, so that a higher priority would gain nothing.
    """
    is_open = known.state in (State.UNKNOWN, State.FAILED) or (
        known.state is State.CONFIRMING and not known.standing
    )
    if is_open or (depth is not None and depth < known.depth):
        return Fate.STANDS
    if known.state is State.SETTLED:
        return Fate.SUPPRESSED
    return Fate.STANDS if known.standing and priority > known.priority and not is_fetched else Fate.WAITS


def let_through(known: Class, url: int, priority: int = 0, depth: int = 0, keeper: int = 0) -> Class:
    """The class *known*, after the URL with the number *url*, which is written at *keeper*, was let through."""
    state = _next_state(known, Event.LET_THROUGH)[0]
    if state is State.SETTLED:
        return known._replace(depth=min(known.depth, depth), keeper=keeper or known.keeper)
    standing = known.standing
    if standing:
        priority, depth = max(known.priority, priority), min(known.depth, depth)
    standing, keeper = standing if url in standing else (*standing, url), keeper or known.keeper
    return Class(state, standing, known.waiting, known.failed, known.landed_on, priority, depth, keeper)


def with_waiting(known: Class, more: int = 1) -> Class:
    """The class *known* with *more* waiting URLs than before; a negative number means fewer."""
    return known._replace(waiting=max(0, known.waiting + more))


def page_taken(known: Class) -> After:
    """The class *known* after the spider has taken its page."""
    return _after(known, Event.TAKEN, standing=())


def yielded_nothing(known: Class) -> After:
    """The class *known* after the spider's callback has yielded nothing from an answer for it."""
    return _after(known, Event.NOTHING, standing=())


def page_doubted(known: Class) -> After:
    """The class *known* after its page has turned out to be, perhaps, a login wall or an error."""
    state, effects = _next_state(known, Event.DOUBTED)
    return (known, ()) if state is known.state else (known._replace(state=state, standing=()), effects)


def no_page(known: Class, url: int, *, is_busy: bool = False) -> After:
    """The class *known* after its URL with the number *url* brought no page. Nothing changes while another URL stands.

    *is_busy*: the site may be too busy to show a page now.
    """
    if known.state is State.SETTLED:
        return known, ()
    left = tuple(other for other in known.standing if other != url)
    state, effects = (
        (known.state, ()) if left else _next_state(known, Event.BUSY if is_busy else Event.NO_PAGE)
    )
    return known._replace(state=state, standing=left, failed=True), effects


def redirected_away(known: Class, landed_on: bytes) -> After:
    """The class *known* after a redirect has led to the page of the class *landed_on*, which is another class."""
    again = known.state is State.CONFIRMING and known.landed_on == landed_on
    return _after(known, Event.LED_AGAIN if again else Event.LED_AWAY, standing=(), landed_on=landed_on)


def overdue(known: Class) -> After:
    """The class *known* after the URL that stands for it has taken too long: another URL is fetched beside it."""
    return _after(known, Event.OVERDUE)


def spider_idle(known: Class) -> After:
    """The class *known* after the spider has become idle, so that no URL that stands can bring a page any more."""
    failed = known.failed or known.state is not State.RESTING
    return _after(known, Event.IDLE, standing=(), failed=failed)


def _after(known: Class, event: Event, **changes: Any) -> After:
    """The class *known* after *event* and with *changes*, and the effects of the event."""
    state, effects = _next_state(known, event)
    return known._replace(state=state, **changes), effects


def _next_state(known: Class, event: Event) -> tuple[State, tuple[Effect, ...]]:
    """The state after *event*, and its effects. An event that the table lacks changes nothing."""
    return CLASSES.get((known.state, event), (known.state, ()))


def diagrams() -> Iterator[str]:
    """Both tables as Mermaid diagrams."""
    yield "```mermaid"
    yield "stateDiagram-v2"
    for (before, event), (after, effects) in CLASSES.items():
        done = f" / {', '.join(effects)}" if effects else ""
        yield f"    {before} --> {after}: {event}{done}"
    yield "```"
    yield ""
    yield "```mermaid"
    yield "stateDiagram-v2"
    names = {fate: fate.value.replace(" ", "_") for fate in Fate}
    for fate, name in names.items():
        if name != fate.value:
            yield f"    {name}: {fate.value}"
    for (was, when), becomes in URLS.items():
        yield f"    {names[was]} --> {names[becomes]}: {when}"
    yield "```"
