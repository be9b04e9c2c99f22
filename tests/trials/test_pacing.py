from __future__ import annotations

from scrapy_dust.trials.pacing import Pace, Patience

PATIENCE = Patience(pause=2.0, longest=60.0)


def pace(*urls: str, patience: Patience = PATIENCE) -> Pace:
    made = Pace(patience)
    made.push(urls)
    return made


def test_a_site_that_says_too_much_is_left_alone_and_asked_again():
    site = pace("u", "v")
    assert site.next_url(0) == "u"
    assert site.refused("u", 429, None, 0)
    assert site.next_url(1.9) is None
    assert [site.next_url(2.0), site.next_url(2.0)] == ["v", None]  # one at a time
    site.went_well()
    assert site.next_url(2.0) == "u"


def test_pauses_double_until_it_goes_well():
    site, now, pauses = pace(), 0.0, []
    for number in range(4):
        site.push([f"u{number}"])
        site.next_url(now)
        site.refused(f"u{number}", 503, None, now)
        pauses.append(site.paused_until - now)
        now = site.paused_until
    assert pauses == [2, 4, 8, 16]
    site.next_url(now)
    site.went_well()
    site.next_url(now)
    site.refused("u1", 503, None, now)
    assert site.paused_until - now == 2


def test_the_server_says_how_long():
    site = pace("u")
    site.next_url(0)
    site.refused("u", 503, 7.5, 0)
    assert site.paused_until == 7.5


def test_who_asks_for_more_than_there_is_patience_is_left():
    site = pace("u")
    site.next_url(0)
    assert not site.refused("u", 429, 61.0, 0)
    assert site.too_long


def test_one_url_that_is_always_refused_does_not_stop_the_others():
    site, now = pace("bad"), 0.0
    for _ in range(2):
        assert site.next_url(now) == "bad"
        assert site.refused("bad", 429, None, now)
        now = site.paused_until
    assert site.next_url(now) == "bad"
    assert not site.refused("bad", 429, None, now)
    assert site.too_long is None


def test_one_403_is_of_its_page_and_a_wave_is_of_all():
    site = pace("a", "b", "c", "d")
    for url in ("a", "b"):
        assert site.next_url(0) == url
        assert not site.refused(url, 403, None, 0)
    assert site.next_url(0) == "c"
    assert site.refused("c", 403, None, 0)
    assert site.next_url(0) is None


def test_silence_is_asked_once_more():
    site = pace("a")
    site.next_url(0)
    assert site.refused("a", None, None, 0)
    assert site.next_url(0) == "a"
    assert not site.refused("a", None, None, 0)


def test_no_more_are_under_way_than_allowed_and_a_recovered_site_gets_more():
    site = pace(*map(str, range(100)))
    under_way = [site.next_url(0) for _ in range(20)]
    assert under_way.count(None) == 12
    site.refused("0", 429, None, 0)
    for _ in range(7):
        site.went_well()
    taken = 0
    while site.next_url(2.0) is not None:
        taken += 1
        site.went_well()
        if taken == 50:
            break
    together = [site.next_url(2.0) for _ in range(20)]
    assert 20 - together.count(None) > 4


def test_what_was_not_sent_costs_nothing():
    site = pace("a")
    site.next_url(0)
    site.not_sent()
    assert site.spent == 0
    assert site.is_idle


def test_a_robots_txt_that_asks_for_hours_is_respected_by_leaving():
    site = pace("a")
    site.keep_distance(10)
    assert site.too_long is None
    site.keep_distance(3600)
    assert site.too_long
