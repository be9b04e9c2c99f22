from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dust.propose.edits.log_sampling import sample
from tests.rules.strategies import urls

logs = st.dictionaries(urls, st.none() | st.integers(0, 9), max_size=30)


@given(logs, st.integers(1, 40))
def test_a_part_has_so_many_urls_and_says_of_them_what_the_log_says(log, most):
    part = sample(log, most)
    assert part.items() <= log.items()
    assert len(part) <= most
    assert part == log or len(log) > most


@given(logs.flatmap(lambda log: st.tuples(st.just(log), st.permutations(list(log)))), st.integers(1, 40))
def test_the_order_of_the_log_does_not_matter(logs, most):
    log, order = logs
    assert list(sample({url: log[url] for url in order}, most)) == list(sample(log, most)) or len(log) <= most


def test_contents_under_several_urls_come_first_and_then_what_lies_beside_them():
    log = {f"http://a.example/d/{n}?sid={s}": n for n in range(10) for s in "ab"}
    log |= {f"http://a.example/d/x{n}": f"x{n}" for n in range(10)}
    log |= {f"http://a.example/e/{n}": f"e{n}" for n in range(1000)}
    part = sample(log, 30)
    assert sorted(part) == sorted(url for url in log if "/d/" in url)


def test_a_page_that_half_of_the_urls_show_takes_but_a_part_of_the_part():
    log = {f"http://a.example/login?next={n}": "login" for n in range(5000)}
    log |= {f"http://a.example/{n}{slash}": n for n in range(200) for slash in ("", "/")}
    part = sample(log, 600)
    assert sum(content == "login" for content in part.values()) in (0, 100)
    assert sum(content != "login" for content in part.values()) >= 300
