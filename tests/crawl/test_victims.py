"""Suppressed requests, kept whole and given back: all of them, the newest first, each once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from scrapy import FormRequest, Request, Spider

from scrapy_dust.crawl import victims as keeping
from scrapy_dust.crawl.freezing import frozen, made_again, shown
from scrapy_dust.crawl.victims import Victims


class Known(Spider):
    name = "known"

    def parse(self, response):
        pass

    def other(self, response):
        pass


SPIDER = Known()


def keep(victims, url, *rules, **more):
    request = Request(url, callback=SPIDER.other, **more)
    return victims.keep(request, rules, frozen(request, SPIDER))


def urls_of(victims, rule):
    return [request.url for _, request in victims.of(rule, SPIDER)]


@given(
    st.lists(st.tuples(st.integers(0, 30), st.sets(st.sampled_from("abc"), min_size=1)), max_size=40),
    st.data(),
)
def test_all_that_a_rule_suppressed_comes_back_once_however_it_was_written(tmp_path_factory, kept, data):
    victims = Victims(tmp_path_factory.mktemp("dust"))
    before, keeping._TOGETHER = keeping._TOGETHER, data.draw(st.integers(1, 8))
    try:
        for number, rules in kept:
            keep(victims, f"http://a.test/{number}", *sorted(rules))
        found = urls_of(victims, "a")
        assert sorted(found) == sorted({f"http://a.test/{number}" for number, rules in kept if "a" in rules})
        left = {f"http://a.test/{number}" for number, rules in kept if "b" in rules} - set(found)
        assert set(urls_of(victims, "b")) == left
    finally:
        keeping._TOGETHER = before
        victims.close()


def test_a_job_that_goes_on_has_those_of_before_but_for_what_a_kill_cut_short(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "_TOGETHER", 2)
    first = Victims(tmp_path, str(tmp_path))
    for number in range(5):
        keep(first, f"http://a.test/{number}", "r", meta={"n": number})
    first.close()
    file = tmp_path / keeping.FILE
    with file.open("ab") as stream:
        stream.write(b"\0\0\0\x10\0\0\0\x10torn")
    second = Victims(tmp_path, str(tmp_path))
    keep(second, "http://a.test/5", "r", meta={"n": 5})
    found = [(request.url, request.meta["n"], request.callback) for _, request in second.of("r", SPIDER)]
    second.close()
    assert found == [(f"http://a.test/{n}", n, SPIDER.other) for n in (5, 4, 3, 2, 1, 0)]


def test_a_job_that_is_killed_has_what_it_had_suppressed_and_what_is_torn_hides_none(tmp_path):
    killed = Victims(tmp_path, str(tmp_path))
    for number in range(3):
        keep(killed, f"http://a.test/{number}", "r")
    files = {name: (tmp_path / name).read_bytes() for name in (keeping.FILE, f"{keeping.FILE}.latest")}
    killed.close()
    for name, content in files.items():
        (tmp_path / name).write_bytes(content + b"\x80\x05torn"[: 6 if "latest" in name else 0])
    again = Victims(tmp_path, str(tmp_path))
    assert urls_of(again, "r") == [f"http://a.test/{n}" for n in (2, 1, 0)]
    again.close()


def test_what_was_given_back_before_a_pause_is_not_given_back_after_it(tmp_path):
    first = Victims(tmp_path, str(tmp_path))
    for number in range(4):
        keep(first, f"http://a.test/{number}", "r")
    given = first.of("r", SPIDER)
    assert [next(given)[1].url for _ in range(2)] == ["http://a.test/3", "http://a.test/2"]
    first.close()
    second = Victims(tmp_path, str(tmp_path))
    assert urls_of(second, "r") == ["http://a.test/1", "http://a.test/0"]
    second.close()


def test_what_cannot_be_put_away_is_kept_in_memory_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "KEPT_LIVE", 2)
    victims = Victims(tmp_path)
    unpicklable = {"made here": lambda: None}
    assert [keep(victims, f"http://a.test/{n}", "r", meta=unpicklable) for n in range(3)] == [
        True,
        True,
        False,
    ]
    assert urls_of(victims, "r") == ["http://a.test/1", "http://a.test/0"]
    victims.close()


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
    said, lacks = shown(request, frozen(request, SPIDER))
    assert set(lacks) == {"headers.Authorization", "meta.item", "meta.pair", "meta.proxy", "cookies"}
    again = made_again(request.url, said, SPIDER)
    assert (again.callback, again.errback, again.priority) == (SPIDER.other, SPIDER.parse, 3)
    assert (again.meta, again.cb_kwargs, again.flags) == ({"n": 1}, {"k": "v"}, ["f"])
    assert again.headers == {b"X-A": [b"1"]}


def test_a_callback_that_the_spider_has_lost_is_the_default_one():
    assert made_again("http://a.test/", {"callback": "gone"}, SPIDER).callback is None


def test_a_subclass_of_request_comes_back_from_this_crawls_own_memory_as_such(tmp_path):
    victims = Victims(tmp_path)
    form = FormRequest("http://a.test/?a=1", callback=SPIDER.other)
    victims.keep(form, ("r",), frozen(form, SPIDER))
    ((_, found),) = victims.of("r", SPIDER)
    assert type(found) is FormRequest
    victims.close()
