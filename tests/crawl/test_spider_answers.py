"""The state of an answer that is with the spider: in whatever order its events come, the end is the same, and is not told before."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from scrapy_dust.crawl.spider_answers import Answer, Callbacks, Made

#: What a callback may yield, and the best that each is worth.
WORTH = {
    "item": Made.ITEM,
    "item that is dropped": Made.NOTHING,
    "new request": Made.NEW,
    "old request": Made.OLD,
    "request for the same page": Made.NOTHING,
}
YIELDED = st.lists(st.sampled_from(sorted(WORTH)), max_size=6)


def events_of(answer, yielded):
    """The events of each thing that was yielded, in their order."""
    for one in yielded:
        if "item" in one:
            yield [
                lambda: setattr(answer, "items", answer.items + 1),
                lambda one=one: answer.item_ended(is_lost="dropped" in one),
            ]
            continue
        request = Request("http://a.test/same" if "same" in one else "http://a.test/other")
        answer.add_request(request)
        yield [
            lambda: setattr(answer, "unjudged", answer.unjudged + 1),
            lambda one=one: answer.request_judged(is_new="new" in one),
        ]


def made_of(answer):
    return answer.best_made(lambda request: "same" not in request.url)


@given(YIELDED, st.booleans(), st.randoms(use_true_random=False))
def test_the_best_of_what_was_yielded_is_known_once_all_is_judged(yielded, asks_again, random):
    answer = Answer(is_watched=True, asks_again=asks_again)
    waiting = list(events_of(answer, yielded))
    for left, _ in waiting:  # the spider middlewares let out one thing after the other
        left()
    waiting = [[later] for _, later in waiting]
    waiting += [[lambda: setattr(answer, "is_over", True), lambda: setattr(answer, "is_through", True)]]
    known = []
    while waiting:
        events = random.choice(waiting)
        events.pop(0)()
        waiting = [events for events in waiting if events]
        known += [made_of(answer)] if answer.is_known else []
    best = max((WORTH[one] for one in yielded), default=Made.NOTHING)
    expected = None if best is Made.NOTHING and asks_again else best
    assert known
    assert set(known) == {expected}


@given(YIELDED)
def test_where_nobody_watches_items_and_requests_count_as_soon_as_the_callback_has_ended(yielded):
    answer = Answer(is_watched=False)
    for one in yielded:
        if "item" in one:
            answer.has_more = answer.has_item = True
        else:
            answer.add_request(Request("http://a.test/same" if "same" in one else "http://a.test/other"))
    assert not answer.is_known
    answer.is_over = True
    assert answer.is_known
    has_item = any("item" in one for one in yielded)
    leads_on = any("request" in one and "same" not in one for one in yielded)
    assert made_of(answer) is (Made.ITEM if has_item else Made.NEW if leads_on else Made.NOTHING)


def test_a_callback_makes_more_of_others_if_it_has_made_items_where_requests_were_old_or_anything_where_nothing_came():
    more = {(best, made) for best, made in product(Made, Made) if _makes_more(best, made)}
    assert more == {
        (Made.ITEM, Made.OLD),
        (Made.OLD, Made.NOTHING),
        (Made.NEW, Made.NOTHING),
        (Made.ITEM, Made.NOTHING),
    }


def _makes_more(best: Made, made: Made) -> bool:
    callbacks = Callbacks()
    assert callbacks.note_best("parse", best) is Made.NOTHING
    callbacks.note_best("parse", Made.NOTHING)
    assert not callbacks.has_made_more("another", made)
    return callbacks.has_made_more("parse", made)
