"""What waits is held for a look, and never for long."""

from __future__ import annotations

from scrapy_dust.crawl.held_requests import Patience


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_ends_when_the_look_has_come_and_keys_are_made() -> None:
    patience = Patience(Clock())
    assert patience.may_ask(100)
    assert patience.is_holding()
    patience.note_look()
    assert not patience.is_over(100, keys_made=False)
    assert patience.is_over(100, keys_made=True)
    assert not patience.is_holding()


def test_the_next_look_is_asked_for_when_some_more_pages_have_come() -> None:
    patience = Patience(Clock())
    patience.may_ask(1000)
    patience.note_look()
    patience.is_over(1000, keys_made=True)
    assert not patience.may_ask(1049)
    assert patience.may_ask(1050)


def test_a_look_that_does_not_come_holds_nothing_up() -> None:
    clock = Clock()
    patience = Patience(clock)
    patience.may_ask(100)
    clock.now = 3.1
    assert not patience.is_holding()
    assert patience.is_over(100, keys_made=True)


def test_all_holding_together_is_a_small_part_of_the_crawl() -> None:
    clock, held, pages = Clock(), 0.0, 0
    patience = Patience(clock)
    while clock.now < 1000:
        pages += 100
        clock.now += 1
        if patience.may_ask(pages):
            clock.now += 2.9
            held += 2.9
            patience.note_look()
            patience.is_over(pages, keys_made=True)
    assert held <= 0.05 * clock.now + 6


def test_where_much_waits_a_late_look_is_waited_for_as_long_as_it_can_save_that_time() -> None:
    clock = Clock()
    patience = Patience(clock)
    clock.now = 100.0  # a second for each page
    assert patience.may_ask(100, waiting=40)
    clock.now += 9.9
    assert patience.is_holding()
    clock.now += 0.2
    assert not patience.is_holding()


def test_holding_takes_a_part_of_what_fetching_would_take_though_no_look_decides_anything() -> None:
    clock, held, pages, waiting = Clock(), 0.0, 1000, 1000
    patience = Patience(clock)
    clock.now = 100.0
    while waiting > 0:
        began = clock.now
        if patience.may_ask(pages, waiting):
            while patience.is_holding():
                clock.now += 0.5
            patience.is_over(pages, keys_made=True)
        held += clock.now - began
        pages, waiting = pages + 50, waiting - 50
        clock.now += 5.0
    assert held <= 0.25 * 100 + 0.05 * clock.now + 6
