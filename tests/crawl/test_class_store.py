"""Requests at rest: each comes back whole and once, over pauses and kills, and a damaged file costs what it held."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider

from scrapy_dust.crawl import class_store, life
from scrapy_dust.crawl.class_store import FILE, LocalStore
from scrapy_dust.crawl.life import State
from scrapy_dust.crawl.plain_requests import (
    Manners,
    bytes_beside_url,
    from_bytes,
    from_journal,
    shown_parts,
    url_bytes,
)


class Known(Spider):
    name = "known"

    def parse(self, response):
        pass

    def other(self, response):
        pass


SPIDER = Known()

#: Parts of requests that differ by little.
ALIKE = [
    {},
    {"callback": SPIDER.parse},
    {"errback": SPIDER.parse},
    *(
        {"meta": {"a": value}}
        for value in (1, True, 1.0, "1", b"1", bytearray(b"1"), (1,), [1], 0.0, -0.0, None)
    ),
    {"meta": {"a": 1, "b": 2}},
    {"cb_kwargs": {"a": 1}},
    {"headers": {"A": "1"}},
    {"headers": {"A": ["1", "2"]}},
    *(
        {name: value}
        for name, value in (("priority", 1), ("dont_filter", True), ("flags", ["a"]), ("body", b"a"))
    ),
    *({"cookies": cookies} for cookies in ({"a": "1"}, [{"name": "a", "value": "1"}])),
    *({name: value} for name, value in (("encoding", "latin-1"), ("method", "POST"))),
]


def opened(jobdir: Path | None = None, *, goes_on: bool = False) -> LocalStore:
    made = LocalStore(None if jobdir is None else str(jobdir), lambda: SPIDER)
    made.open(goes_on=goes_on)
    return made


def keep(
    rest: LocalStore, number: int, *rules: str, of: bytes = b"c", is_waiting: bool = False, **more
) -> bool:
    request = Request(f"http://a.test/{number}", callback=SPIDER.other, **more)
    return rest.keep(of, f"{number}".encode(), rules, request, is_waiting=is_waiting)


def urls_of(rest: LocalStore, rule: str) -> list[int]:
    return [int(request.url.rpartition("/")[2]) for _, request in rest.take_of_rule(rule)]


@given(st.lists(st.sets(st.sampled_from("abc"), min_size=1), max_size=40), st.integers(1, 8), st.randoms())
def test_all_that_a_rule_suppressed_comes_back_once_the_newest_first_however_it_was_written(
    kept, together, chance
):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(class_store, "TOGETHER", together)
        patch.setattr(class_store, "_READ", chance.randrange(1, 5))
        rest = opened()
        for number, rules in enumerate(kept):
            keep(rest, number, *sorted(rules))
        wanted = [number for number, rules in enumerate(kept) if "a" in rules]
        assert urls_of(rest, "a") == wanted[::-1]
        left = [number for number, rules in enumerate(kept) if "b" in rules and "a" not in rules]
        assert urls_of(rest, "b") == left[::-1]
        assert urls_of(rest, "a") == []
        rest.close()


def test_who_gives_back_takes_nothing_that_came_to_rest_meanwhile(tmp_path):
    rest = opened(tmp_path)
    for number in range(3):
        keep(rest, number, "a")
    first, second = rest.take_of_rule("a"), rest.take_of_rule("a")
    next(first)
    assert [request.url for _, request in second] == ["http://a.test/1", "http://a.test/0"]
    for number in range(3):
        keep(rest, number, "b")
    assert list(first) == []
    assert urls_of(rest, "b") == [2, 1, 0]
    rest.close()


@given(st.lists(st.sampled_from(["keep", "next", "release"]), max_size=40))
def test_what_waits_comes_in_the_order_of_arrival_each_once(steps):
    rest, waiting, number = opened(), [], 0
    rest.change(b"c", lambda known: (life.let_through(known, "http://a.test/"), ()))
    for step in steps:
        if step == "keep":
            number += 1
            assert keep(rest, number, "r", is_waiting=True)
            waiting.append(number)
        elif step == "next":
            request = rest.take_next(b"c")
            expected = waiting.pop(0) if waiting else None
            assert (request and request.url) == (expected and f"http://a.test/{expected}")
        elif waiting:
            assert rest.release(b"c", f"{waiting.pop()}".encode())
        assert rest.get(b"c").waiting == len(waiting)
    rest.close()


def test_a_job_goes_on_with_what_rested_and_with_its_classes(tmp_path):
    first = opened(tmp_path)
    first.change(b"c", lambda known: (life.let_through(known, "http://a.test/", 3, 2), ()))
    first.change(b"d", lambda known: (life.let_through(known, "http://a.test/d"), ()))
    first.change(b"d", life.page_taken)
    for number in range(5):
        keep(first, number, "r", is_waiting=True, meta={"n": number})
    first.put_fact("day", "today")
    first.close()
    second = opened(tmp_path, goes_on=True)
    assert not second.has_lost
    assert second.get(b"c") == life.Class(State.STANDING, ("http://a.test/",), 5, priority=3, depth=2)
    assert second.get(b"d").state is State.SETTLED
    assert second.fact("day") == "today"
    found = [second.take_next(b"c") for _ in range(5)]
    assert [(one.meta["n"], one.callback) for one in found] == [(n, SPIDER.other) for n in range(5)]


def test_a_job_that_is_killed_has_what_it_had_suppressed(tmp_path):
    killed = opened(tmp_path)
    for number in range(3):
        keep(killed, number, "r")
    again = opened(tmp_path, goes_on=True)
    assert urls_of(again, "r") == [2, 1, 0]


@pytest.mark.parametrize("content", [b"", b"torn", b"SQLite format 3\x00" + b"x" * 500])
def test_a_file_that_cannot_be_read_costs_what_it_held_and_the_job_goes_on(tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    rest = opened(tmp_path, goes_on=True)
    assert rest.has_lost
    assert keep(rest, 1, "r")
    assert urls_of(rest, "r") == [1]


def test_a_folder_in_the_place_of_the_file_keeps_nothing(tmp_path):
    (tmp_path / FILE).mkdir()
    rest = opened(tmp_path, goes_on=True)
    assert not keep(rest, 1, "r")


def test_what_a_full_disk_does_not_take_is_not_kept_and_the_next_is(tmp_path, monkeypatch):
    rest = opened(tmp_path)
    keep(rest, 1, "r")

    def full(database):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(rest, "_write_to", full)
        assert not keep(rest, 2, "r")
    assert keep(rest, 3, "r")
    assert urls_of(rest, "r") == [3, 1]


@pytest.mark.parametrize(
    "more",
    [{"meta": {"made here": lambda: None}}, {"errback": lambda failure: None}, {"meta": {"it": SPIDER}}],
)
def test_what_cannot_be_put_to_rest_is_not_kept(more):
    class Odd:
        def __reduce__(self):
            raise RuntimeError("not me")

    assert not keep(opened(), 1, "r", **more) or "it" in more["meta"]
    assert not keep(opened(), 1, "r", meta={"odd": Odd()})


def test_a_subclass_of_request_comes_back_as_such():
    form = FormRequest("http://a.test/?a=1", callback=SPIDER.other)
    beside = bytes_beside_url(form, SPIDER)
    assert beside is not None
    found = from_bytes(beside + url_bytes(form), SPIDER)
    assert type(found) is FormRequest
    assert found.callback == SPIDER.other


@given(st.lists(st.sampled_from(ALIKE), min_size=1, max_size=8))
def test_requests_of_one_manner_rest_and_are_shown_as_each_alone(parts):
    manners = Manners(shows=True)
    for number, part in enumerate(parts):
        request = Request(f"http://a.test/?a={number}", **part)
        manner = manners.manner_of(request, SPIDER)
        assert (manner.said, manner.lacks) == shown_parts(request, SPIDER)
        assert manner.beside is not None
        again = from_bytes(manner.beside + url_bytes(request), SPIDER)
        assert again is not None
        assert repr(again.to_dict(spider=SPIDER)) == repr(request.to_dict(spider=SPIDER))


def test_what_is_shown_of_a_request_is_not_changed_by_what_becomes_of_another():
    manners, first, second = Manners(shows=True), ["a"], ["a"]
    for path in (first, second):
        manner = manners.manner_of(Request("http://a.test/", meta={"path": path}), SPIDER)
        assert manner.said == {"meta": {"path": ["a"]}}
        path.append("b")


def test_a_request_made_anew_from_a_journal_is_what_was_shown_and_lacks_what_is_named():
    request = Request(
        "http://a.test/",
        callback=SPIDER.other,
        errback=SPIDER.parse,
        headers={"X-A": "1", "Authorization": "Basic c2VjcmV0"},
        cookies={"session": "1"},
        meta={"n": 1, "item": object(), "pair": (1, 2), "retry_times": 2, "_own": 1, "proxy": "http://u:p@h"},
        cb_kwargs={"k": "v"},
        priority=3,
        flags=["f"],
    )
    said, lacks = shown_parts(request, SPIDER)
    assert set(lacks) == {"headers.Authorization", "meta.item", "meta.pair", "meta.proxy", "cookies"}
    again = from_journal(request.url, said, SPIDER)
    assert (again.callback, again.errback, again.priority) == (SPIDER.other, SPIDER.parse, 3)
    assert (again.meta, again.cb_kwargs, again.flags) == ({"n": 1}, {"k": "v"}, ["f"])
    assert again.headers == {b"X-A": [b"1"]}


def test_a_callback_that_the_spider_has_lost_is_the_default_one():
    assert from_journal("http://a.test/", {"callback": "gone"}, SPIDER).callback is None
