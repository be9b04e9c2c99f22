"""What is one content although a few words differ."""

from __future__ import annotations

from scrapy_dust.learners.dust_learner import Dust
from scrapy_dust.learners.near_duplicates import near_contents
from scrapy_dust.visits.pages import Visit, merge_visits
from tests.learners.logs import SITE


def post(number, query="", *, sketch=None, title=None):
    """A post of a weblog, which says whom one answers."""
    return Visit(
        f"http://{SITE}/{number}{query}",
        status=200,
        sketch=tuple(sketch or (number * 10 + place for place in range(4))),
        text_digest=f"{number}{query}",
        title=title or f"Post {number}",
    )


POSTS = [post(n, query) for n in range(40) for query in ("", f"?replytocom={n}", f"?replytocom={n + 900}")]


def test_what_is_nearly_equal_is_one_page_only_where_that_is_asked_for():
    log = merge_visits(POSTS)
    near, exact = (Dust(near=near).learn(SITE, log).key for near in (True, False))
    url, other = f"http://{SITE}/99?replytocom=1", f"http://{SITE}/99"
    assert near(url) == near(other) != near(f"http://{SITE}/98")
    assert exact(url) != exact(other)


def test_pages_that_have_nothing_in_common_but_their_template_are_not_nearly_equal():
    listed = [post(n, sketch=(1, 2, 3, 4), title="Posts") for n in range(40)]
    contents = near_contents(merge_visits(listed))
    assert len(set(contents.values())) == 40


def test_a_page_that_calls_another_canonical_which_it_does_not_resemble_is_another():
    pages = [post(1), post(2, title="Post 1")]
    canonical = Visit(
        f"http://{SITE}/3", status=200, sketch=(31, 32, 33, 34), text_digest="3", canonical=pages[0].url
    )
    assert len(set(near_contents(merge_visits([*pages, canonical])).values())) == 3


def test_what_is_nearly_equal_adds_to_what_is_equal_and_takes_nothing_away():
    equal = [
        Visit(f"http://{SITE}/q?id={n}{more}", status=200, text_digest=f"q{n}")
        for n in range(40)
        for more in ("", f"&sid={n}")
    ]
    log = merge_visits([*POSTS, *equal])
    near, exact = (Dust(near=near).learn(SITE, log) for near in (True, False))
    assert set(exact.rules) < set(near.rules)
